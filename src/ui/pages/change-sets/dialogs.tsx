/** What a person may do with a change set. Nothing is done to another state of it than the one that was seen. */

import { useState } from 'preact/hooks';
import { putSet } from '../../basket.ts';
import { ApiProblem, send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { Field, RadioField, TextField } from '../../components/field.tsx';
import { exactTime } from '../../components/time.tsx';
import { apiPath, links } from '../../links.ts';
import { refresh, useResource } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import type { ChangeSet, Preview } from '../../types.ts';
import { missesApprovals } from './rules.ts';

interface DialogProps {
  /** As it was when the person decided. */
  seen: ChangeSet;
  etag: string | null;
  /** Called with the digest that the person has made. */
  onKnown: (digest: string) => void;
  onClose: () => void;
}

const pathOf = ({ id }: ChangeSet, ...below: string[]) => apiPath('change-sets', String(id), ...below);

/** A deed on what was seen. Where that is another one by now, the page behind the dialog shows it. */
function useSeen(run: () => Promise<string | null>) {
  const [isOld, setOld] = useState(false);
  return {
    isDisabled: isOld,
    note: isOld && <p>Nothing was done. Close this dialog to see the change set as it is now.</p>,
    async run() {
      try {
        return await run();
      } catch (error) {
        if (error instanceof ApiProblem && (error.status === 412 || error.status === 409)) {
          setOld(true);
          await refresh();
        }
        throw error;
      }
    },
  };
}

/** How many nodes the preview that is shown says will change; null where there is none of this state. */
function useExpected({ previewId }: ChangeSet): number | null {
  const shown = usePlace().query.get('preview');
  const isOfIt = previewId !== null && shown === previewId;
  const { data } = useResource<Preview>(isOfIt ? apiPath('previews', previewId) : null);
  return data?.state === 'Done' ? data.counts.changed + data.counts.unresolvable : null;
}

const WHEN = [
  { value: 'now', label: 'Now' },
  { value: 'later', label: 'At a time' },
] as const;

export function ApplyDialog({ seen, onClose }: DialogProps) {
  const [when, setWhen] = useState<'now' | 'later'>('now');
  const [at, setAt] = useState('');
  const [reason, setReason] = useState('');
  const expected = useExpected(seen);
  const isOverride = missesApprovals(seen);
  const isLater = when === 'later';
  const { note, ...deed } = useSeen(async () => {
    const body = {
      digest: seen.digest,
      ...(expected !== null && { expectedChanged: expected }),
      ...(isLater && { applyAt: new Date(at).toISOString() }),
      ...(isOverride && { override: reason }),
    };
    const { data } = await send<ChangeSet>('POST', pathOf(seen, 'apply'), body);
    return data.state === 'Scheduled' && data.applyAt !== null
      ? `Change ${seen.id} is applied at ${exactTime(data.applyAt)}.`
      : `Change ${seen.id} is applied. Nodes get it at their next poll.`;
  });
  return (
    <DeedDialog
      heading={`Apply change ${seen.id}`}
      deed={isLater ? 'Schedule' : 'Apply'}
      isDanger={isOverride}
      {...deed}
      onClose={onClose}
    >
      {(problem) => (
        <>
          <p>{effectText(seen, expected)}</p>
          <RadioField legend="When" choices={WHEN} value={when} onChange={setWhen} />
          {isLater && (
            <Field
              label="Apply at"
              name="applyAt"
              type="datetime-local"
              required
              value={at}
              onInput={setAt}
              hint="Within 30 days. It is done with the rights that you have then. What stops it, such as a freeze, makes it Failed."
              problem={problem}
            />
          )}
          {isOverride && (
            <>
              <p class="warning">
                Approvals are missing. You may pass them in an emergency. Everybody sees that you did, for
                good.
              </p>
              <TextField
                label="Reason"
                name="override"
                required
                value={reason}
                onInput={setReason}
                problem={problem}
              />
            </>
          )}
          {note}
        </>
      )}
    </DeedDialog>
  );
}

function effectText({ deeds }: ChangeSet, expected: number | null): string {
  const what = deeds.length === 1 ? 'Its one deed is' : `All ${deeds.length} deeds are`;
  const effect =
    expected === null
      ? 'No preview of it is shown, so it is applied whatever it changes.'
      : `It is done only if it still changes ${expected} ${expected === 1 ? 'node' : 'nodes'}, as the preview says.`;
  return `${what} done as one step. ${effect}`;
}

export function EditDialog({ seen, etag, onKnown, onClose }: DialogProps) {
  const [title, setTitle] = useState(seen.title);
  const [description, setDescription] = useState(seen.description ?? '');
  const { note, ...deed } = useSeen(async () => {
    onKnown(await putSet(seen, { title, description: description.trim() || null }, etag));
    return `Change ${seen.id} was saved.`;
  });
  return (
    <DeedDialog heading={`Edit change ${seen.id}`} deed="Save" {...deed} onClose={onClose}>
      {(problem) => (
        <>
          <Field label="Title" name="title" required value={title} onInput={setTitle} problem={problem} />
          <TextField
            label="Description"
            name="description"
            value={description}
            onInput={setDescription}
            problem={problem}
          />
          {(seen.approvals.length > 0 || seen.state === 'Scheduled') && (
            <p class="warning">Editing ends its approvals and its schedule.</p>
          )}
          {note}
        </>
      )}
    </DeedDialog>
  );
}

export function DiscardDialog({ seen, etag, onClose }: DialogProps) {
  const { note, ...deed } = useSeen(async () => {
    await send('DELETE', pathOf(seen), undefined, { ifMatch: etag });
    return `Change ${seen.id} was discarded.`;
  });
  return (
    <DeedDialog heading={`Discard change ${seen.id}`} deed="Discard" isDanger {...deed} onClose={onClose}>
      <p>It can never be applied then. The drafts that it names stay.</p>
      {note}
    </DeedDialog>
  );
}

export function RevertDialog({ seen, onClose }: DialogProps) {
  const { go } = usePlace();
  const { note, ...deed } = useSeen(async () => {
    const { data } = await send<ChangeSet>('POST', pathOf(seen, 'revert'));
    go(links.changeSet(data.id));
    return `Change ${data.id} takes change ${seen.id} back, once it is applied.`;
  });
  return (
    <DeedDialog heading={`Take back change ${seen.id}`} deed="Take back" {...deed} onClose={onClose}>
      <p>
        This makes a new change set that undoes the deeds, last first. It changes nothing before it is
        applied. What was changed again since stays as it is.
      </p>
      {note}
    </DeedDialog>
  );
}
