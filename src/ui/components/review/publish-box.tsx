/** The last step of a review: a message and the button that publishes what was reviewed. */

import { useId, useState } from 'preact/hooks';
import type { ApiProblem } from '../../client.ts';
import { type Deed, useDeed } from '../dialog.tsx';
import { TextField } from '../field.tsx';
import { Problem } from '../problem.tsx';

interface PublishProps {
  version: string;
  /** Why it cannot be published. It is shown beside the button. */
  reason: string | null;
  /**
   * Publishes what was reviewed: with If-Match of its ETag.
   * @returns what is said about it afterwards
   * @throws ApiProblem
   */
  run: (message: string) => Promise<string>;
  /** Where to go when it is published. */
  onPublished: () => void;
  /** Shows the draft as it is now, after it has changed. */
  onReload: () => Promise<void>;
  /** False where the API takes no message. */
  hasMessage?: boolean;
}

export function PublishBox(props: PublishProps) {
  const { version, reason, run, onPublished, onReload, hasMessage = true } = props;
  const [message, setMessage] = useState('');
  const { isBusy, problem, start, forget } = useDeed(() => run(message.trim()));
  // Until the draft is shown as it is now, there is nothing to publish that was reviewed.
  const reload = useDeed(async () => {
    await onReload();
    forget();
    return null;
  }, false);
  const reasonId = useId();
  const publish = async (event: Event) => {
    event.preventDefault();
    if (reason === null && !reload.isBusy && (await start())) onPublished();
  };
  return (
    <form class="card publish" onSubmit={(event) => void publish(event)}>
      {hasMessage && (
        <TextField
          label="Message"
          name="message"
          hint="Says why. It stands in the tag, and git log shows it."
          problem={problem}
          value={message}
          onInput={setMessage}
        />
      )}
      {problem !== null && <Refusal {...{ problem, reload }} />}
      <p class="deed">
        <button
          type="submit"
          class="primary"
          disabled={isBusy || reload.isBusy || reason !== null}
          aria-busy={isBusy}
          aria-describedby={reason === null ? undefined : reasonId}
        >
          Publish {version}
        </button>
        {reason !== null && (
          <span id={reasonId} class="hint">
            {reason}
          </span>
        )}
      </p>
    </form>
  );
}

function Refusal({ problem, reload }: { problem: ApiProblem; reload: Deed }) {
  if (problem.status !== 412) return <Problem problem={problem} />;
  return (
    <Problem problem={problem}>
      The draft has changed since you read it here. Nothing was published.{' '}
      <button type="button" class="small" aria-busy={reload.isBusy} onClick={() => void reload.start()}>
        Show the changes as they are now
      </button>
    </Problem>
  );
}
