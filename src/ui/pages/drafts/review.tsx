/** The review of a draft: its changes against the version below, the check, whom it touches, and publishing. */

import { send } from '../../client.ts';
import { AddToChange } from '../../components/add-to-change.tsx';
import { ComparedFiles } from '../../components/compared-files.tsx';
import { DiffModeChoice, useDiffMode } from '../../components/diff-mode.tsx';
import { Mark } from '../../components/marks.tsx';
import { Page, Part } from '../../components/page.tsx';
import { PreviewImpact } from '../../components/preview.tsx';
import {
  OF_DEEDS_ALONE,
  OldNote,
  PublishBox,
  ReviewLayout,
  reasonOfCheck,
  useReviewed,
} from '../../components/review.tsx';
import { RollOut } from '../../components/roll-out.tsx';
import { apiOf, links, withQuery } from '../../links.ts';
import { type Resource, useResource } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import type {
  Comparison,
  Configuration,
  PublishCheck,
  PublishedVersion,
  VersionDetails,
} from '../../types.ts';
import { draftCrumbs, PublishedNote, reasonAgainst } from './shared.tsx';
import { unsavedOf } from './unsaved.ts';

interface Props {
  name: string;
  version: string;
}

export function ReviewPage({ name, version }: Props) {
  const configuration = useResource<Configuration>(apiOf('configurations', name));
  const draft = useResource<VersionDetails>(apiOf('configurations', name, 'versions', version));
  const isDraft = draft.data?.status !== 'Published';
  return (
    <Page
      heading={`Review ${name} ${version}`}
      of={[configuration, draft]}
      crumbs={[...draftCrumbs(name), { href: links.draft('configurations', name, version), label: version }]}
      beside={draft.data !== null && <Mark word={draft.data.status} />}
    >
      {isDraft ? (
        <Review name={name} version={version} configuration={configuration} draft={draft} />
      ) : (
        <PublishedNote name={name} version={version} />
      )}
    </Page>
  );
}

interface ReviewProps extends Props {
  configuration: Resource<Configuration>;
  draft: Resource<VersionDetails>;
}

function Review({ name, version, configuration, draft }: ReviewProps) {
  const place = usePlace();
  const mode = useDiffMode();
  const base = apiOf('configurations', name);
  // What is reviewed stays on the page until somebody asks for what it is now.
  const comparison = useResource<Comparison>(withQuery(`${base}/compare`, { to: version }), { poll: false });
  const check = useResource<PublishCheck>(
    apiOf('configurations', name, 'versions', version, 'publish-check'),
  );
  const shown = comparison.data?.to.commit ?? null;
  const { etag, isOld, showNow } = useReviewed({ draft, shown, of: [comparison, check] });
  const publish = async (message: string) => {
    const path = `${base}/versions/${encodeURIComponent(version)}/publish`;
    const body = message === '' ? {} : { message };
    return noticeOf(name, (await send<PublishedVersion>('PUT', path, body, { ifMatch: etag })).data);
  };
  const reasonBut = (...codes: readonly string[]) =>
    reasonAgainst('publish', configuration.data) ??
    reasonOfCheck(check, ...codes) ??
    (etag === null ? 'The changes are being read.' : null);
  const unsaved = [...unsavedOf(name, version).value.keys()];
  return (
    <>
      {unsaved.length > 0 && (
        <p class="warning">
          {unsaved.join(', ')} {unsaved.length === 1 ? 'has' : 'have'} changes that are not saved. They are
          not part of this review.
        </p>
      )}
      <OldNote isOld={isOld} showNow={showNow} />
      <ReviewLayout
        changes={
          <>
            <DiffModeChoice />
            <Part of={comparison}>
              {(data) => (
                <>
                  <Against comparison={data} />
                  <ComparedFiles name={name} comparison={data} mode={mode} level={3} />
                </>
              )}
            </Part>
          </>
        }
        check={check}
        configurationName={name}
        impact={
          <PreviewImpact
            changes={[{ kind: 'PublishConfiguration', configurationName: name, version }]}
            mode={mode}
          />
        }
        publish={
          <>
            <PublishBox
              version={version}
              reason={reasonBut()}
              run={publish}
              onPublished={() => place.go(links.version('configurations', name, version))}
              onReload={showNow}
            />
            <AddToChange
              title={`Publish ${name} ${version}`}
              deeds={() => [{ kind: 'PublishConfiguration', configurationName: name, version }]}
              reason={reasonOfCheck(check, ...OF_DEEDS_ALONE)}
            />
            <RollOut
              kind="configurations"
              {...{ name, version, etag }}
              reason={reasonBut('rollout_running')}
            />
          </>
        }
      />
    </>
  );
}

function Against({ comparison: { from } }: { comparison: Comparison }) {
  return (
    <p>
      {from === null
        ? 'There is no version below it, so all files are new.'
        : `Compared with ${from.version}.`}
    </p>
  );
}

/** So many files are named. */
const NAMED = 5;

function noticeOf(name: string, { version, affectedParameterFiles }: PublishedVersion): string {
  const done = `${name} ${version} is published. Nodes get it at their next poll.`;
  if (affectedParameterFiles === null)
    return `${done} Whether the parameter files fit it could not be found out.`;
  if (affectedParameterFiles.length === 0) return done;
  const names = affectedParameterFiles.map(({ scopeTypeName, scopeValue, version: ofFile }) =>
    [scopeTypeName, scopeValue, ofFile].filter((part) => part !== null).join(' '),
  );
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return `${done} These parameter files do not fit it: ${names.slice(0, NAMED).join(', ')}${more}.`;
}
