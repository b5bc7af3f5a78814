/** One change set: what it does, whom that touches, what stands in its way, and the button that does it. */

import { useState } from 'preact/hooks';
import { ApiProblem, send } from '../../client.ts';
import { DeedButton } from '../../components/dialog.tsx';
import { Mark } from '../../components/marks.tsx';
import { Page } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Time } from '../../components/time.tsx';
import { apiPath, links } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { ChangeSet } from '../../types.ts';
import { ApprovalsPart, ProtectionPart } from './approvals.tsx';
import { CollectButton, DeedsPart } from './deeds.tsx';
import { ApplyDialog, DiscardDialog, EditDialog, RevertDialog } from './dialogs.tsx';
import { CheckPart, ImpactPart } from './impact.tsx';
import { useReasons } from './rights.ts';
import { isOpen } from './rules.ts';
import { useNames } from './words.tsx';

const CRUMBS = [{ href: links.changeSets(), label: 'Change sets' }];
const DIALOGS = { apply: ApplyDialog, edit: EditDialog, discard: DiscardDialog, revert: RevertDialog };

interface Asked {
  dialog: keyof typeof DIALOGS;
  /** As it was when the person decided. */
  seen: ChangeSet;
  etag: string | null;
}

export function ChangeSetPage({ id }: { id: string }) {
  return <ChangeSetView key={id} id={id} />;
}

function ChangeSetView({ id }: { id: string }) {
  const set = useResource<ChangeSet>(apiPath('change-sets', id));
  const { data, etag } = set;
  const looked = useLooked(data);
  const [asked, setAsked] = useState<Asked | null>(null);
  const Asked = asked === null ? null : DIALOGS[asked.dialog];
  return (
    <Page
      heading={data?.title ?? `Change ${id}`}
      of={[set]}
      crumbs={CRUMBS}
      beside={
        data !== null && (
          <>
            <Mark word={data.state} /> <span class="muted">Change {data.id}</span>
          </>
        )
      }
      actions={
        data !== null && (
          <Actions
            set={data}
            isOld={looked.isOld}
            onAsk={(dialog) => setAsked({ dialog, seen: data, etag })}
          />
        )
      }
    >
      {data !== null && (
        <div class="review">
          {looked.isOld && (
            <p class="warning" role="status">
              The change set, or a draft that it names, has changed since you opened this page.{' '}
              <button type="button" class="small" onClick={looked.look}>
                Go on with it as it is now
              </button>
            </p>
          )}
          <Story set={data} />
          <Content set={data} etag={etag} looked={looked} />
        </div>
      )}
      {Asked !== null && asked !== null && (
        <Asked seen={asked.seen} etag={asked.etag} onKnown={looked.know} onClose={() => setAsked(null)} />
      )}
    </Page>
  );
}

function Content({ set, etag, looked }: { set: ChangeSet; etag: string | null; looked: Looked }) {
  const names = useNames();
  const reasons = useReasons(set);
  return (
    <>
      <DeedsPart {...{ set, etag, names }} mayEdit={reasons.edit === null} onKnown={looked.know} />
      {isOpen(set) && <CheckPart set={set} />}
      <ProtectionPart set={set} names={names} />
      <ApprovalsPart {...{ set, reasons }} isOld={looked.isOld} />
      {isOpen(set) && <ImpactPart set={set} />}
    </>
  );
}

export interface Looked {
  /** It is another one than the person has seen. */
  isOld: boolean;
  look(): void;
  /** The person has made it this one. */
  know(digest: string): void;
}

/** Which states of the set the person has looked at: nothing else is approved or applied. */
function useLooked(set: ChangeSet | null): Looked {
  const [known, setKnown] = useState<readonly string[]>([]);
  const digest = set?.digest ?? null;
  const know = (seen: string) => setKnown((before) => [...before, seen]);
  if (digest !== null && known.length === 0) setKnown([digest]);
  return {
    isOld: digest !== null && known.length > 0 && !known.includes(digest),
    look: () => digest !== null && know(digest),
    know,
  };
}

interface ActionsProps {
  set: ChangeSet;
  isOld: boolean;
  onAsk: (dialog: Asked['dialog']) => void;
}

/** One main button, and what else the state allows. What the user may not do says why. */
function Actions({ set, isOld, onAsk }: ActionsProps) {
  const { isBusy, ...reasons } = useReasons(set);
  const ask = (label: string, dialog: Asked['dialog'], reason: string | null = reasons[dialog]) => (
    <AskButton {...{ label, isBusy, reason }} onClick={() => onAsk(dialog)} />
  );
  if (set.state === 'Applied') return ask('Take back', 'revert');
  if (!isOpen(set)) return null;
  return (
    <>
      {set.state === 'Open' ? (
        ask('Apply', 'apply', isOld ? 'It has changed since you opened this page.' : reasons.apply)
      ) : (
        <DeedButton
          deed="Cancel the schedule"
          {...{ isBusy }}
          reason={isBusy ? null : reasons.discard}
          run={async () => {
            await send('DELETE', apiPath('change-sets', String(set.id), 'apply'));
            return 'It is not scheduled any more. Its approvals stay.';
          }}
        />
      )}
      {reasons.isCollectable && <CollectButton id={set.id} />}
      {ask('Edit', 'edit')}
      <AskButton
        label="Discard"
        {...{ isBusy }}
        reason={reasons.discard}
        saidBeside={reasons.discard === reasons.edit ? 'Edit' : 'Discard'}
        onClick={() => onAsk('discard')}
      />
    </>
  );
}

interface AskProps {
  label: string;
  reason: string | null;
  /** It is not known yet whether there is a reason. */
  isBusy: boolean;
  /** The button beside which the reason stands, where another one has the same. */
  saidBeside?: string;
  onClick: () => void;
}

function AskButton({ label, reason, isBusy, saidBeside = label, onClick }: AskProps) {
  const isOff = !isBusy && reason !== null;
  const id = `${saidBeside.toLowerCase().replace(' ', '-')}-reason`;
  return (
    <span class="deed">
      <button
        type="button"
        class={label === 'Apply' ? 'primary' : ''}
        disabled={isBusy || isOff}
        aria-busy={isBusy}
        aria-describedby={isOff ? id : undefined}
        onClick={onClick}
      >
        {label}
      </button>
      {isOff && saidBeside === label && (
        <span id={id} class="hint">
          {reason}
        </span>
      )}
    </span>
  );
}

/** Who has made it, and what became of it. */
function Story({ set }: { set: ChangeSet }) {
  const { description, createdBy, createdAt, appliedAt, appliedBy, applyAt, failure, override } = set;
  return (
    <section class="part" aria-label="Story">
      {description !== null && <p class="message">{description}</p>}
      {failure !== null && (
        <Problem problem={new ApiProblem(0, { code: failure.code, detail: failure.message })}>
          It could not be applied at its time. Nothing was changed.
        </Problem>
      )}
      {override !== null && (
        <p class="warning">
          {override.by} has passed the missing approvals, <Time at={override.at} exact />: {override.reason}
        </p>
      )}
      <dl class="facts">
        <dt>Made</dt>
        <dd>
          <Time at={createdAt} exact /> by {createdBy}
        </dd>
        {applyAt !== null && set.state === 'Scheduled' && (
          <>
            <dt>Scheduled</dt>
            <dd>
              <Time at={applyAt} exact />. What stops it then, such as a freeze, makes it Failed.
            </dd>
          </>
        )}
        {appliedAt !== null && (
          <>
            <dt>Applied</dt>
            <dd>
              <Time at={appliedAt} exact /> by {appliedBy}
            </dd>
          </>
        )}
        <SetLink label="Takes back" id={set.revertOf} />
        <SetLink label="Taken back by" id={set.revertedBy} />
      </dl>
    </section>
  );
}

function SetLink({ label, id }: { label: string; id: number | null }) {
  if (id === null) return null;
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <a href={links.changeSet(id)}>Change {id}</a>
      </dd>
    </>
  );
}
