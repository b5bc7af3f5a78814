/** How often certificates rotate, and when a node is stale. */

import { useState } from 'preact/hooks';
import { ApiProblem, send } from '../../client.ts';
import { EditForm, useEdit } from '../../components/edit-form.tsx';
import { CheckField, Field } from '../../components/field.tsx';
import type { ServerSettings } from '../../types.ts';

/** What each section of the settings gets. */
export interface SectionProps<T> {
  data: T;
  etag: string | null;
  /** Why it cannot be changed. */
  reason: string | null;
}

/** How the API writes durations. */
export const DURATION_HINT = 'As days.hours:minutes:seconds, such as 60.00:00:00 or 00:15:00.';

export function ServerSection({ data, etag, reason }: SectionProps<ServerSettings>) {
  const { certificateRotationInterval, stalenessMultiplier } = data;
  const edit = useEdit(
    { certificateRotationInterval, stalenessMultiplier: String(stalenessMultiplier) },
    etag,
  );
  // So many nodes would be locked out; somebody has to accept that very number.
  const [nodes, setNodes] = useState<number | null>(null);
  const [isAccepted, setAccepted] = useState(false);
  const run = async () => {
    const { stalenessMultiplier: text, ...changes } = edit.changes;
    const body = {
      ...changes,
      ...(text === undefined ? {} : { stalenessMultiplier: numberOf(text) }),
      ...(isAccepted ? { acceptNodes: nodes } : {}),
    };
    try {
      await send('PUT', '/settings', body, { ifMatch: edit.etag });
    } catch (error) {
      if (error instanceof ApiProblem) setNodes(nodesOf(error));
      throw error;
    } finally {
      setAccepted(false);
    }
    setNodes(null);
    return 'The settings of the server were saved.';
  };
  return (
    <section class="card">
      <h2>Server</h2>
      <EditForm label="Server" edit={edit} run={run} reason={reason}>
        {(problem) => (
          <>
            <Field
              label="Certificate rotation interval"
              name="certificateRotationInterval"
              hint={`How old an agent lets its certificate grow. ${DURATION_HINT}`}
              autocomplete="off"
              required
              problem={problem}
              value={edit.value.certificateRotationInterval}
              onInput={(text) => edit.set('certificateRotationInterval', text)}
            />
            {problem !== null && nodes !== null && (
              <CheckField
                label={`Lock out ${nodes} nodes all the same`}
                hint="They have to register anew."
                checked={isAccepted}
                onChange={setAccepted}
              />
            )}
            <Field
              label="Staleness multiplier"
              name="stalenessMultiplier"
              hint="A node is stale that has not called for so many of its own intervals, such as 2 or 2.5."
              autocomplete="off"
              required
              problem={problem}
              value={edit.value.stalenessMultiplier}
              onInput={(text) => edit.set('stalenessMultiplier', text)}
            />
          </>
        )}
      </EditForm>
    </section>
  );
}

/** What is no number goes as it is, so that the API says so; as null it would mean to change nothing. */
function numberOf(text: string): number | string {
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? text : number;
}

function nodesOf({ code, body: { nodes } }: ApiProblem): number | null {
  return code === 'certificates_too_old' && typeof nodes === 'number' ? nodes : null;
}
