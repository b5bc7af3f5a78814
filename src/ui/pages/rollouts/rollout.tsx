/** One rollout of a configuration or composite: how far it is, what its gates wait for, and what was done with it. */

import { useState } from 'preact/hooks';
import { CopyLine } from '../../components/copy-line.tsx';
import { crumbsOf } from '../../components/draft-parts.tsx';
import { Mark } from '../../components/marks.tsx';
import { ForbiddenPage, Page } from '../../components/page.tsx';
import { SimpleTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import type { AnyVersion } from '../../components/version-mark.tsx';
import { apiOf, type Kind, links } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { deadlineOf, fileText, openStepOf, type RolloutDeed } from '../../rollouts.ts';
import { can } from '../../session.ts';
import type { Configuration, Rollout } from '../../types.ts';
import { DeedButtons, RolloutDeedDialog } from './deeds.tsx';
import { HistoryPart } from './history.tsx';
import { FigureWords, StepCard } from './step.tsx';

interface Props {
  name: string;
  version: string;
}

export function RolloutPage(props: Props) {
  return <AnyRolloutPage kind="configurations" {...props} />;
}

export function CompositeRolloutPage(props: Props) {
  return <AnyRolloutPage kind="composites" {...props} />;
}

function AnyRolloutPage(props: Props & { kind: Kind }) {
  if (can('nodes.read')) return <WholePage {...props} />;
  return <ForbiddenPage heading={`Rollout ${props.name} ${props.version}`} />;
}

function WholePage({ kind, name, version }: Props & { kind: Kind }) {
  const rollout = useResource<Rollout>(apiOf(kind, name, 'rollouts', version));
  const owner = useResource<Pick<Configuration, 'access'>>(apiOf(kind, name));
  // The key of a rollout of parameter files alone is no version.
  const of = version.includes('@') ? null : apiOf(kind, name, 'versions', version);
  const published = useResource<AnyVersion>(of, { poll: false });
  const [asked, setAsked] = useState<{ deed: RolloutDeed; seen: Rollout } | null>(null);
  const { data } = rollout;
  const access = owner.data?.access ?? null;
  const mayAct = can('rollouts.manage') && (access === 'Modify' || access === 'Manage');
  return (
    <Page
      heading={`Rollout ${name} ${version}`}
      of={[rollout, owner]}
      crumbs={crumbsOf(kind, name)}
      beside={data !== null && <Mark word={data.state} />}
      actions={
        data !== null &&
        mayAct && (
          <DeedButtons
            rollout={data}
            publishedBy={published.data?.publishedBy ?? null}
            onAsk={(deed) => setAsked({ deed, seen: data })}
          />
        )
      }
    >
      {data !== null && (
        <>
          <CausePart rollout={data} />
          <Facts kind={kind} rollout={data} />
          <section class="part">
            <h2>Steps</h2>
            <ol class="rollout-steps">
              {data.steps.map((step, at) => (
                <li key={at}>
                  <StepCard
                    step={step}
                    place={at + 1}
                    approvedBy={at === data.step ? openStepOf(data).approvedBy : null}
                  />
                </li>
              ))}
            </ol>
            <FigureWords />
          </section>
          <HistoryPart rollout={data} />
        </>
      )}
      {asked !== null && <RolloutDeedDialog kind={kind} {...asked} onClose={() => setAsked(null)} />}
    </Page>
  );
}

/** Why it is halted, paused or superseded, with the nodes that are the cause. */
function CausePart({ rollout: { cause } }: { rollout: Rollout }) {
  if (cause === null) return null;
  return (
    <section class="part" aria-label="Why">
      <p class="warning">{cause.summary}</p>
      {cause.nodes.length > 0 && (
        <SimpleTable
          name="Nodes that are the cause"
          rows={cause.nodes}
          keyOf={({ nodeId }) => nodeId}
          columns={[
            {
              label: 'Node',
              isName: true,
              cell: ({ nodeId, fqdn }) => <a href={links.node(nodeId)}>{fqdn}</a>,
            },
            { label: 'Before', cell: ({ before }) => before ?? '' },
            { label: 'After', cell: ({ after }) => after ?? '' },
            { label: 'What is wrong', isLong: true, cell: ({ message }) => message ?? '' },
          ]}
        />
      )}
    </section>
  );
}

const ON_HALT = {
  Keep: 'The nodes that have the version keep it.',
  Revert: 'The nodes that have the version get what they had before.',
} as const;

function Facts({ kind, rollout }: { kind: Kind; rollout: Rollout }) {
  const { configurationName, key, version, parameters, createdAt, createdBy, step, steps, onHalt } = rollout;
  const deadline = deadlineOf(rollout);
  return (
    <>
      <dl class="facts">
        {version !== null && (
          <>
            <dt>Version</dt>
            <dd>
              <a href={links.version(kind, configurationName, version)}>{version}</a>
            </dd>
          </>
        )}
        {parameters.length > 0 && (
          <>
            <dt>Parameters</dt>
            <dd>
              <ul class="bullets">
                {parameters.map((file) => (
                  <li key={fileText(file)}>
                    <a href={links.parameterFile(configurationName, file)}>{fileText(file)}</a>
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
        <dt>Started</dt>
        <dd>
          <Time at={createdAt} exact /> by {createdBy}
        </dd>
        <dt>Step</dt>
        <dd>
          {step + 1} of {steps.length}
        </dd>
        {deadline !== null && (
          <>
            <dt>Deadline</dt>
            <dd>
              <Time at={deadline} exact />. Without a verdict of the open step until then, the rollout pauses.
            </dd>
          </>
        )}
        <dt>If it halts</dt>
        <dd>
          {onHalt}: {ON_HALT[onHalt]}
        </dd>
      </dl>
      <CopyLine label="the line that shows its history in Git" text={`git log origin/rollout/${key}`} />
    </>
  );
}
