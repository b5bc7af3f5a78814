/** Starts a rollout from a review: the draft is published, and reaches the nodes ring by ring. */

import { useState } from 'preact/hooks';
import { send } from '../client.ts';
import { apiOf, apiPath, type Kind, links, withQuery } from '../links.ts';
import { useResource } from '../resource.ts';
import { fileText } from '../rollouts.ts';
import { usePlace } from '../router.ts';
import { can } from '../session.ts';
import type {
  ParameterFile,
  PreviewChange,
  Rollout,
  RolloutRing,
  RolloutSettings,
  ScopeType,
  ScopeValue,
} from '../types.ts';
import { DeedDialog } from './dialog.tsx';
import { CheckField, SelectField, TextField } from './field.tsx';
import { Part } from './page.tsx';
import { bodyOf, type PlannedFile, planFor, type TypedPlan } from './roll-out/plan.ts';
import { StepsFields } from './roll-out/steps.tsx';

interface Props {
  kind: Kind;
  name: string;
  version: string;
  /** Of the draft as it was reviewed; null while it is not known. */
  etag: string | null;
  /** Why the draft cannot be published. */
  reason: string | null;
}

/** Left out for those who may not roll anything out. */
export function RollOut(props: Props) {
  return can('rollouts.manage') ? <RollOutPart {...props} /> : null;
}

const ABOUT =
  'A rollout publishes the version too, but it reaches some nodes first, and the others only if these stay well.';

function RollOutPart(props: Props) {
  const maySee = can('server.settings.read');
  const settings = useResource<RolloutSettings>(maySee ? '/settings/rollouts' : null);
  return (
    <section class="part" aria-label="Rollout in rings">
      <p>{ABOUT}</p>
      {!maySee && <p class="hint">To see the rings takes the permission server.settings.read.</p>}
      {maySee && (
        <Part of={settings}>
          {({ rolloutScopeType }) =>
            rolloutScopeType === null ? <NoRings /> : <WithRings {...props} typeName={rolloutScopeType} />
          }
        </Part>
      )}
    </section>
  );
}

function NoRings() {
  return (
    <p>
      Nothing can be rolled out yet, because no scope type is set whose values are the rings.{' '}
      {can('server.settings.write') ? (
        <a href="/ui/settings">Set it in the settings</a>
      ) : (
        'Ask somebody who may change the settings of the server.'
      )}
    </p>
  );
}

function WithRings({ typeName, ...props }: Props & { typeName: string }) {
  const [isOpen, setOpen] = useState(false);
  const types = useResource<ScopeType[]>('/scope-types?take=1000', { poll: false });
  const type = types.data?.find(({ name }) => name === typeName);
  const path = type === undefined ? null : `/scope-types${apiPath(type.id)}/values?take=1000`;
  const values = useResource<ScopeValue[]>(path, { poll: false });
  const { reason } = props;
  return (
    <>
      <p class="deed">
        <button
          type="button"
          disabled={reason !== null || values.data === null}
          aria-describedby={reason === null ? undefined : 'roll-out-reason'}
          onClick={() => setOpen(true)}
        >
          Roll out {props.version}
        </button>
        {reason !== null && (
          <span id="roll-out-reason" class="hint">
            {reason}
          </span>
        )}
      </p>
      {isOpen && values.data !== null && (
        <RollOutDialog
          {...props}
          typeName={typeName}
          rings={inOrder(values.data)}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

function inOrder(values: readonly ScopeValue[]): string[] {
  return [...values].sort((a, b) => a.order - b.order).map(({ value }) => value);
}

const ON_HALT = [
  { value: '', label: 'choose' },
  { value: 'Keep', label: 'Keep: nodes that have the version keep it' },
  { value: 'Revert', label: 'Revert: nodes that have the version get what they had before' },
];

interface DialogProps extends Omit<Props, 'reason'> {
  typeName: string;
  rings: readonly string[];
  onClose: () => void;
}

function RollOutDialog({ kind, name, version, etag, typeName, rings, onClose }: DialogProps) {
  const place = usePlace();
  const [plan, setPlan] = useState(() => planFor(rings));
  const drafts = useResource<ParameterFile[]>(
    kind === 'configurations' ? `${apiOf(kind, name)}/parameter-files?status=Draft&take=1000` : null,
    { poll: false },
  );
  const files = plan.files.map((file) => fileText(file).replace(' ', '@')).join();
  const ringsOf = withQuery(apiOf(kind, name, 'versions', version, 'rings'), {
    take: '1000',
    ...(files !== '' && { parameters: files }),
  });
  const reached = can('nodes.read') ? ringsOf : null;
  const counts = useResource<RolloutRing[]>(reached, { poll: false });
  const nodesOf = (ring: string | null) => counts.data?.find((each) => each.ring === ring)?.nodes ?? null;
  const run = async () => {
    await send<Rollout>('POST', apiOf(kind, name, 'rollouts'), bodyOf(version, plan), { ifMatch: etag });
    place.go(links.rollout(kind, name, version));
    return `${name} ${version} is published and rolls out. The first step is open.`;
  };
  return (
    <DeedDialog
      heading={`Roll out ${name} ${version}`}
      deed="Roll out"
      isWide
      run={run}
      onClose={onClose}
      collected={{ title: `Roll out ${name} ${version}`, deeds: () => [startOf(kind, name, version, plan)] }}
    >
      {(problem) => (
        <>
          <p>
            The rings are the values of the scope type {typeName}, which are proposed in their order. Each
            step opens when the gate of the step before it holds. Rings without a step get the version when
            the rollout completes.
          </p>
          <DraftsFields
            drafts={drafts.data ?? []}
            chosen={plan.files}
            onChange={(chosen) => setPlan({ ...plan, files: chosen })}
          />
          <StepsFields {...{ plan, rings, nodesOf, problem }} onChange={setPlan} />
          <SelectField
            label="If it halts"
            name="onHalt"
            required
            choices={ON_HALT}
            problem={problem}
            value={plan.onHalt}
            onInput={(text) => setPlan({ ...plan, onHalt: text === 'Keep' || text === 'Revert' ? text : '' })}
          />
          <TextField
            label="Message"
            name="message"
            hint="Says why. It stands in the tag, and git log shows it."
            problem={problem}
            value={plan.message}
            onInput={(message) => setPlan({ ...plan, message })}
          />
        </>
      )}
    </DeedDialog>
  );
}

/** The start as a deed of a change set. */
function startOf(kind: Kind, name: string, version: string, plan: TypedPlan) {
  const named = kind === 'composites' ? { compositeName: name } : { configurationName: name };
  return { kind: 'StartRollout', ...named, ...bodyOf(version, plan) } as unknown as PreviewChange;
}

interface DraftsProps {
  drafts: readonly ParameterFile[];
  chosen: readonly PlannedFile[];
  onChange: (chosen: readonly PlannedFile[]) => void;
}

/** The drafts of the parameters, which may go with the version. A scope goes with one file alone. */
function DraftsFields({ drafts, chosen, onChange }: DraftsProps) {
  if (drafts.length === 0) return null;
  const isOfScope = (a: PlannedFile, b: PlannedFile) =>
    a.scopeTypeName === b.scopeTypeName && a.scopeValue === b.scopeValue;
  return (
    <fieldset>
      <legend>Drafts of its parameters</legend>
      <p class="hint">
        Those that you choose are published into the rollout. Nodes get them with the version.
      </p>
      {drafts.map((draft) => (
        <CheckField
          key={draft.id}
          label={fileText(draft)}
          checked={chosen.some((file) => isOfScope(file, draft) && file.version === draft.version)}
          onChange={(isChosen) => {
            const others = chosen.filter((file) => !isOfScope(file, draft));
            onChange(isChosen ? [...others, draft] : others);
          }}
        />
      ))}
    </fieldset>
  );
}
