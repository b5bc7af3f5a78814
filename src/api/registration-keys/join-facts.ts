/** What the makers of lines for different shells take and give. */

/** A line to paste, and the same as a file with comments. */
export interface JoinLine {
  line: string;
  script: string;
}

/** What a machine is told beside the key. */
export interface JoinFacts {
  /** The origin at which machines reach the server. */
  server: string;
  /** The SHA-256 of the authority that they trust as hex digits; `system`: those that the machine trusts already. */
  trust: string;
  /** The SHA-256 of Hawser's agent as hex digits. */
  digest: string;
  /** What whoever runs the line is to know. */
  note: string | null;
  /** The text of those who may sign what the agent runs; null for none. */
  signers: string | null;
}
