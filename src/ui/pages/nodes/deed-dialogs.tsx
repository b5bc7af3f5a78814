/** The dialogs in which nodes are assigned, tagged and deleted: one node of its page, or many of the list. */

import { useEffect, useState } from 'preact/hooks';
import { ApiProblem } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/field.tsx';
import { Num } from '../../components/num.tsx';
import type { NodeDetails, PreviewChange } from '../../types.ts';
import { AssignmentFields, useAssignment } from './assignment.tsx';
import { Impact } from './impact.tsx';
import { useScopeValues } from './scope-values.ts';
import { type Action, countAnew, countOf, idsOf, MOST_NODES, nameOf, type Targets } from './targets.ts';

/** Does it, and gives the sentence that says what was done; null says nothing. */
export type RunOnNodes = (
  action: Action,
  members: Readonly<Record<string, unknown>>,
  targets: Targets,
) => Promise<string | null>;

interface DialogProps {
  targets: Targets;
  run: RunOnNodes;
  onClose: () => void;
  /** What the one node of a page has now. */
  node?: NodeDetails;
}

export function NodesDialog({ action, ...props }: DialogProps & { action: Action }) {
  if (action === 'Assign') return <AssignDialog {...props} />;
  if (action === 'Tag' || action === 'Untag') return <TagDialog {...props} action={action} />;
  return <PlainDialog {...props} action={action} />;
}

/** The nodes of a dialog. Where the filter meets other nodes by now, the dialog goes on with their new number. */
function useTargets(props: DialogProps, action: Action) {
  const [targets, setTargets] = useState(props.targets);
  const run = async (members: Readonly<Record<string, unknown>>) => {
    try {
      return await props.run(action, members, targets);
    } catch (error) {
      const isCount = error instanceof ApiProblem && error.code === 'count_changed';
      if (isCount) setTargets(await countAnew(targets));
      throw error;
    }
  };
  const isTooMany = targets.count > MOST_NODES;
  const name = nameOf(targets, props.node !== undefined);
  return {
    run,
    common: {
      onClose: props.onClose,
      isDisabled: isTooMany || targets.count === 0,
      underWay: <UnderWay action={action} count={targets.count} />,
    },
    name,
    /** The deed as one of a change set; deleting nodes is none. */
    collected: (members: Readonly<Record<string, unknown>>) =>
      action === 'Delete'
        ? undefined
        : {
            title: `${action} ${name}`,
            deeds: async () => [{ kind: action, nodeIds: await idsOf(targets), ...members } as PreviewChange],
          },
    /** A preview of the deed; of deleting nodes there is none. */
    impact: (members: Readonly<Record<string, unknown>>, isDisabled: boolean) =>
      action !== 'Delete' && <Impact {...{ action, targets, members, isDisabled }} node={props.node} />,
    about: (
      <>
        {props.node === undefined && <About targets={targets} />}
        {targets.count !== props.targets.count && <CountChanged before={props.targets} now={targets} />}
        {isTooMany && <TooMany />}
      </>
    ),
  };
}

function AssignDialog(props: DialogProps) {
  const { run, common, name, about, impact, collected } = useTargets(props, 'Assign');
  const form = useAssignment(props.node?.assignment ?? null);
  return (
    <DeedDialog
      {...common}
      heading={`Assign a configuration to ${name}`}
      deed="Assign"
      isWide
      run={() => run(form.members())}
      collected={collected(form.members())}
    >
      {(problem) => (
        <>
          {about}
          <AssignmentFields form={form} problem={problem} />
          {impact(form.members(), form.draft.configurationName.trim() === '')}
        </>
      )}
    </DeedDialog>
  );
}

function TagDialog({ action, ...props }: DialogProps & { action: 'Tag' | 'Untag' }) {
  const { run, common, name, about, impact, collected } = useTargets(props, action);
  const values = useScopeValues();
  const [chosen, setChosen] = useState('');
  return (
    <DeedDialog
      {...common}
      heading={`${action} ${name}`}
      deed={action}
      isDisabled={common.isDisabled || values?.length === 0}
      run={() => run({ scopeValueId: chosen })}
      collected={collected({ scopeValueId: chosen })}
    >
      {(problem) => (
        <>
          {about}
          {values?.length === 0 ? (
            <p>
              There is no scope value yet. Make one on the page <a href="/ui/scopes">Scopes</a>.
            </p>
          ) : (
            <SelectField
              label="Scope value"
              name="scopeValueId"
              required
              value={chosen}
              onInput={setChosen}
              choices={[{ value: '', label: 'Choose one' }, ...(values ?? [])]}
              hint="A node has at most one value of each scope type."
              problem={problem}
            />
          )}
          {impact({ scopeValueId: chosen }, chosen === '')}
        </>
      )}
    </DeedDialog>
  );
}

const CONSEQUENCES = {
  Unassign:
    'At the next poll these nodes are told that nothing is assigned to them. What they run already stays on them.',
  Delete:
    'Their reports, events, tags and assignments are deleted too, and their certificates stop working at once. This ' +
    'cannot be undone: a deleted machine has to register anew.',
};

function PlainDialog({ action, ...props }: DialogProps & { action: 'Unassign' | 'Delete' }) {
  const { run, common, name, about, impact, collected } = useTargets(props, action);
  return (
    <DeedDialog
      {...common}
      heading={`${action} ${name}`}
      deed={action}
      isDanger={action === 'Delete'}
      run={() => run({})}
      collected={collected({})}
    >
      {about}
      <p>{CONSEQUENCES[action]}</p>
      {impact({}, false)}
    </DeedDialog>
  );
}

/** How many nodes, and the names of the first of them. */
function About({ targets: { ids, filter, count, names } }: { targets: Targets }) {
  const rest = count - names.length;
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <p>
      <strong>
        <Num value={count} /> {count === 1 ? 'node' : 'nodes'}
      </strong>
      {ids === null && (isFiltered ? ', all that the filter meets' : ', all that there are')}
      {names.length > 0 && <>: {names.join(', ')}</>}
      {rest > 0 && names.length > 0 && (
        <>
          {' '}
          and <Num value={rest} /> more
        </>
      )}
      .
    </p>
  );
}

function CountChanged({ before, now }: { before: Targets; now: Targets }) {
  return (
    <p>
      The filter met {countOf(before.count)} when this dialog was opened. Now it meets {countOf(now.count)}.
      Press the button again if you mean these.
    </p>
  );
}

function TooMany() {
  return (
    <p class="fault" role="alert">
      One deed takes at most <Num value={MOST_NODES} /> nodes. Narrow the filter, for example by status, by
      configuration, by scope value or by a part of the name, and do it once for each part.
    </p>
  );
}

const WORDS: Record<Action, string> = {
  Assign: 'being assigned',
  Unassign: 'being unassigned',
  Tag: 'being tagged',
  Untag: 'being untagged',
  Delete: 'being deleted',
};

/** The API answers when all nodes are done, so what can be said is how many there are and for how long. */
function UnderWay({ action, count }: { action: Action; count: number }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="progress">
      <progress aria-label={`${countOf(count)} ${WORDS[action]}`} />
      <span>
        {countOf(count)} {count === 1 ? 'is' : 'are'} {WORDS[action]}: {seconds} s so far.
      </span>
      {seconds >= 3 && <span class="hint">The server goes on to the end, even if you close this.</span>}
    </div>
  );
}
