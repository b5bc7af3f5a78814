/** What a node should get beside what it runs, and why they differ. */

import { EvidenceMark, Mark } from '../../components/marks.tsx';
import { Time } from '../../components/time.tsx';
import { type Kind, links } from '../../links.ts';
import type { NodeDetails } from '../../types.ts';
import type { Parts } from './parts.ts';
import { standingOf } from './standing.ts';

interface CardProps {
  node: NodeDetails;
  parts: Parts;
  /** The checksum of what it gets at its next poll; null: it is not known. */
  offered: string | null;
  /** Leads to the differences. */
  isWithLink?: boolean;
}

export function StandingCard({ node, parts, offered, isWithLink = true }: CardProps) {
  const { tone, word, sentence, isOther } = standingOf(node, offered);
  return (
    <section class="card standing" aria-labelledby="standing">
      <h2 id="standing" class="visually-hidden">
        What it should get, and what it runs
      </h2>
      <p class="standing-why">
        <Mark word={word} tone={tone} /> <span>{sentence}</span>{' '}
        {isOther && isWithLink && <a href={links.node(node.id, 'diff')}>See the differences</a>}
      </p>
      <div class="node-sides">
        <ShouldGet node={node} offered={offered} parts={parts} />
        <Runs node={node} parts={parts} />
      </div>
    </section>
  );
}

interface VersionProps {
  name: string;
  isComposite: boolean;
  version: string;
  parts: Parts;
}

/** A version, as a link where the user may read it. */
export function VersionLink({ name, isComposite, version, parts: { readable } }: VersionProps) {
  const kind: Kind = isComposite ? 'composites' : 'configurations';
  const mayRead = isComposite ? readable.composite(name) : readable.configuration(name);
  const text = `${name} ${version}`;
  return mayRead ? <a href={links.version(kind, name, version)}>{text}</a> : <span>{text}</span>;
}

function ShouldGet({ node, offered, parts }: CardProps) {
  const { assignment } = node;
  return (
    <div>
      <h3>Should get</h3>
      {assignment === null ? (
        <p class="muted">Nothing is assigned.</p>
      ) : (
        <dl class="facts">
          <dt>Version</dt>
          <dd>
            {assignment.resolvedVersion === null ? (
              <Mark word="No version fits" tone="bad" />
            ) : (
              <VersionLink
                name={assignment.configurationName}
                isComposite={assignment.isComposite}
                version={assignment.resolvedVersion}
                parts={parts}
              />
            )}
          </dd>
          <dt>Assigned</dt>
          <dd>
            {assignment.isComposite ? 'Composite' : 'Configuration'} {assignment.configurationName},{' '}
            {ruleOf(assignment)}
          </dd>
          {offered !== null && (
            <>
              <dt>Checksum</dt>
              <dd>
                <code>{offered}</code>
              </dd>
            </>
          )}
        </dl>
      )}
    </div>
  );
}

type Assignment = NonNullable<NodeDetails['assignment']>;

/** Which versions the node may get, in words. */
function ruleOf({ version, majorVersion, prereleaseChannel }: Assignment): string {
  if (version !== null) return `exactly version ${version}`;
  const which = majorVersion === null ? 'the newest version' : `the newest version ${majorVersion}.x`;
  return prereleaseChannel === null ? which : `${which}, prereleases from ${prereleaseChannel} on too`;
}

function Runs({ node: { running, assignment }, parts }: { node: NodeDetails; parts: Parts }) {
  if (running === null)
    return (
      <div>
        <h3>Runs</h3>
        <p class="muted">Nothing is known yet.</p>
      </div>
    );
  const { configurationName, version, evidence, since, checksum } = running;
  const isAssigned = assignment?.configurationName === configurationName;
  return (
    <div>
      <h3>Runs</h3>
      <dl class="facts">
        <dt>Version</dt>
        <dd>
          {configurationName === null || version === null ? (
            <span class="muted">No version is known for this checksum any more.</span>
          ) : isAssigned && assignment !== null ? (
            <VersionLink
              name={configurationName}
              isComposite={assignment.isComposite}
              version={version}
              parts={parts}
            />
          ) : (
            `${configurationName} ${version}`
          )}
        </dd>
        <dt>Evidence</dt>
        <dd>
          <EvidenceMark evidence={evidence} /> <Time at={since} exact />
        </dd>
        <dt>Checksum</dt>
        <dd>
          <code>{checksum}</code>
        </dd>
      </dl>
    </div>
  );
}
