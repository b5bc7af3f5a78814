/** What a person may do with a rollout. Each deed asks for a reason, which Git keeps. */

import { useState } from 'preact/hooks';
import { ApiProblem, send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { apiOf, type Kind } from '../../links.ts';
import { refresh } from '../../resource.ts';
import { possibleDeeds, type RolloutDeed } from '../../rollouts.ts';
import { me } from '../../session.ts';
import type { Rollout } from '../../types.ts';

const GO_BACK = 'and the nodes that have it get what they had before at their next poll';
const FINAL = 'The version cannot be rolled out again.';

interface DeedWords {
  label: string;
  says: (rollout: Rollout) => string;
  isDanger?: boolean;
}

const DEEDS: Record<RolloutDeed, DeedWords> = {
  pause: {
    label: 'Pause',
    says: () =>
      'No further step opens until somebody resumes the rollout. Nodes of the open steps still get the version.',
  },
  resume: { label: 'Resume', says: () => 'The open step goes on. Its bake time and deadline begin anew.' },
  approve: { label: 'Approve', says: () => 'The next step opens once the rest of the gate holds.' },
  complete: {
    label: 'Complete',
    says: () => 'The rollout ends, and all nodes get the version at their next poll, whatever their ring.',
  },
  halt: {
    label: 'Halt',
    isDanger: true,
    says: ({ onHalt }) =>
      `The rollout ends. Nobody new gets the version, ${onHalt === 'Revert' ? GO_BACK : 'and the nodes that have it keep it'}. ${FINAL}`,
  },
  revert: {
    label: 'Revert',
    isDanger: true,
    says: () => `The rollout ends. Nobody new gets the version, ${GO_BACK}. ${FINAL}`,
  },
};

const SAME_PERSON = 'You have published the version, so somebody else must approve.';

interface ButtonsProps {
  rollout: Rollout;
  /** Null while it is not known; then the API says who may approve. */
  publishedBy: string | null;
  onAsk: (deed: RolloutDeed) => void;
}

/** What the state does not allow is not offered. */
export function DeedButtons({ rollout, publishedBy, onAsk }: ButtonsProps) {
  const isPublisher = publishedBy !== null && publishedBy === me.value?.username;
  return (
    <>
      {possibleDeeds(rollout).map((deed) => {
        const isBarred = deed === 'approve' && isPublisher;
        return (
          <span key={deed} class="deed">
            <button
              type="button"
              class={deed === 'approve' ? 'primary' : ''}
              disabled={isBarred}
              aria-describedby={isBarred ? 'same-person' : undefined}
              onClick={() => onAsk(deed)}
            >
              {DEEDS[deed].label}
            </button>
            {isBarred && (
              <span id="same-person" class="hint">
                {SAME_PERSON}
              </span>
            )}
          </span>
        );
      })}
    </>
  );
}

interface DialogProps {
  kind: Kind;
  deed: RolloutDeed;
  /** The rollout as it was when the person decided. */
  seen: Rollout;
  onClose: () => void;
}

export function RolloutDeedDialog({ kind, deed, seen, onClose }: DialogProps) {
  const { configurationName: name, key, state } = seen;
  const { label, says, isDanger = false } = DEEDS[deed];
  const [reason, setReason] = useState('');
  const [isOld, setOld] = useState(false);
  const run = async () => {
    try {
      const path = apiOf(kind, name, 'rollouts', key, deed);
      const { data } = await send<Rollout>('POST', path, { reason, expectedState: state });
      return `The rollout of ${name} ${key} is ${data.state}.`;
    } catch (error) {
      if (error instanceof ApiProblem && error.code === 'state_changed') {
        // The page behind the dialog shows what it is by now, and which deeds that allows.
        setOld(true);
        await refresh();
      }
      throw error;
    }
  };
  return (
    <DeedDialog
      heading={`${label} the rollout of ${name} ${key}`}
      deed={label}
      isDanger={isDanger}
      isDisabled={isOld}
      run={run}
      onClose={onClose}
    >
      {(problem) => (
        <>
          <p>{says(seen)}</p>
          <TextField
            label="Reason"
            name="reason"
            required
            value={reason}
            onInput={setReason}
            hint="Git keeps it, and everybody who sees the rollout reads it."
            problem={problem}
          />
          {isOld && <p>Close this dialog to see the rollout as it is now, and decide anew.</p>}
        </>
      )}
    </DeedDialog>
  );
}
