/**
 * The program that joins a machine: JavaScript for `node -e`. It has no single quote, no backslash and no exclamation mark,
 * so that every shell takes it between single quotes as it is. It is short, because a terminal may take no more than 4,095
 * characters in a line. Its syntax is that of Node 12, so that an older Node is told what is wanted.
 *
 * Its arguments are the server, the trust (the SHA-256 of an authority, or `system`), the SHA-256 of the agent, and perhaps
 * a note, which it prints, and in base64 the signers, which it gives to the agent. The key is in the environment, for the agent. It ends with 3 when the key was not sent to anybody,
 * and else as the agent ends. The lines of comment are for the script, and are not in the line.
 */
const LINES = [
  'const { X509Certificate: Certificate, createHash } = require("crypto"), { argv, env, version, getuid } = process;',
  'const fs = require("fs"), [server, trust, digest, note] = argv.slice(1), folder = "hawser-agent", system = trust === "system";',
  'const say = (text) => console.error("hawser: " + text), again = ". Then run this line again", other = ". Ask for a new line";',
  'const must = (holds, text) => { if (holds) return; say(text); process.exit(3); };',
  'const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");',
  'const read = (name) => { try { return fs.readFileSync(name, "utf8"); } catch { return ""; } };',
  'const json = (text) => { try { return JSON.parse(text); } catch { return text; } };',

  '// The connection ends with the answer, so one that was not verified is never used for anything else.',
  'const get = async (path, tls) => { const answer = await new Promise((done, fail) => require("https")',
  '.get(server + path, { ...tls, agent: false, signal: AbortSignal.timeout(12e4) }, done).on("error", fail));',
  'must(answer.statusCode === 200, server + path + " answers " + answer.statusCode + other); const parts = []; let size = 0;',
  'for await (const part of answer) { parts.push(part); must((size += part.length) < 3e7, path + " is too long" + other); }',
  'return Buffer.concat(parts); };',

  '(async () => { must(parseInt(version.slice(1)) > 19, "this is Node " + version + ". Install 20.19 or newer" + again); let ca;',
  'if (note) say(note);',
  'if (system) { say("this line holds no fingerprint of " + server + ": the authorities in HAWSER_AGENT_CA_FILE decide, or those of Node");',
  'if (env.HAWSER_AGENT_CA_FILE) ca = fs.readFileSync(env.HAWSER_AGENT_CA_FILE, "utf8"); }',
  '// Only the certificate that was compared is trusted: whoever answers may have put others behind it.',
  'else { const own = new Certificate(await get("/api/v1/ca.pem", { rejectUnauthorized: false }));',
  'must(sha256(own.raw) === trust, "the authority of " + server + " is not the one that this line trusts" + other);',
  'ca = own.toString(); }',

  '// The environment of the machine must not be able to switch the verification off.',
  'const agent = await get("/download/hawser-agent.mjs", { ca, rejectUnauthorized: true });',
  'must(sha256(agent) === digest, "the agent at " + server + " is not the one that this line expects" + other);',
  '// In a folder that others can change, the agent could be exchanged after the comparison.',
  'fs.mkdirSync(folder, { recursive: true, mode: 448 }); const seen = fs.lstatSync(folder); process.chdir(folder); const here = fs.statSync(".");',
  'must(seen.isDirectory() && seen.ino === here.ino && (getuid ? here.uid === getuid() && (here.mode & 18) === 0 : true),',
  '"the folder " + folder + " is a link, belongs to somebody else, or can be changed by others. Go to another folder" + again);',
  '// A machine that has joined stays what it is. What a failed join has left is replaced.',
  'const old = json(read("settings.json")) || {}, joined = fs.existsSync((old.stateDir || "state") + "/node.json");',
  'must(joined ? old.server === server || ca && read("ca.pem") === ca : true,',
  '"the folder " + folder + " holds a node of " + (old.server || "an unknown server") + ". Go to another folder" + again);',
  'const write = (name, content) => { fs.writeFileSync(name + "~", content); fs.renameSync(name + "~", name); };',
  'write("hawser-agent.mjs", agent); if (ca) write("ca.pem", ca);',
  '// Name and command are kept, because whoever runs the agent later will not say them again.',
  'const { HAWSER_AGENT_NAME: name, HAWSER_AGENT_COMMAND: command } = env;',
  'joined || write("settings.json", JSON.stringify({ server, name: name || undefined, stateDir: "state",',
  'caFile: ca && "ca.pem", command: json(command || undefined) }));',
  '// Nor may the environment lead the key to another server, or to one that was not verified.',
  'delete env.NODE_TLS_REJECT_UNAUTHORIZED; for (const each of ["SERVER", "CA_FILE", "FINGERPRINT", "STATE_DIR", "CONFIG",',
  '"REGISTRATION_KEY_FILE", "NAME", "COMMAND"]) delete env["HAWSER_AGENT_" + each];',
  'const { status } = require("child_process").spawnSync(process.execPath, ["hawser-agent.mjs", "register", "--config",',
  '"settings.json"], { stdio: "inherit" }); process.exitCode = status === null ? 1 : status;',
  '})().catch((error) => must(false, server + ": " + (error.message || error.code) + ". Correct this" + again));',
];

/** What the program has more where it gives signers to the agent, by what stands there else. */
const WITH_SIGNERS: readonly (readonly [string, string])[] = [
  ['[server, trust, digest, note]', '[server, trust, digest, note, signers]'],
  [
    'write("hawser-agent.mjs", agent);',
    'write("hawser-agent.mjs", agent); joined || write("signers", Buffer.from(signers, "base64"));',
  ],
  ['"settings.json"], {', '"settings.json", ...(joined ? [] : ["--signers", "signers"])], {'],
];

/** The program in one line, to be pasted. */
export function joinProgram(hasSigners: boolean): string {
  return linesOf(hasSigners)
    .filter((line) => !line.startsWith('//'))
    .join(' ');
}

/** The program with its comments, for the script. */
export function explainedProgram(hasSigners: boolean): string {
  return linesOf(hasSigners).join('\n');
}

function linesOf(hasSigners: boolean): readonly string[] {
  if (!hasSigners) return LINES;
  return LINES.map((line) => WITH_SIGNERS.reduce((text, [from, to]) => text.replace(from, to), line));
}
