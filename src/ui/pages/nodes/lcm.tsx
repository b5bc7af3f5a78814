/** How the node's local configuration manager (LCM) should run, and how it says that it runs. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { Field, SelectField } from '../../components/field.tsx';
import { Mark } from '../../components/marks.tsx';
import { SimpleTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { apiPath } from '../../links.ts';
import { can } from '../../session.ts';
import type { LcmConfig, NodeDetails } from '../../types.ts';

interface Setting {
  label: string;
  wish: string | null;
  inForce: string | null;
  reported: string | null;
}

const spoken = (flag: boolean | null | undefined) =>
  flag === null || flag === undefined ? null : flag ? 'yes' : 'no';

function settingsOf(node: NodeDetails, inForce: LcmConfig | null): Setting[] {
  return [
    {
      label: 'Mode',
      wish: node.desiredConfigurationMode,
      inForce: inForce?.configurationMode ?? null,
      reported: node.configurationMode,
    },
    {
      label: 'Interval',
      wish: node.desiredConfigurationModeInterval,
      inForce: inForce?.configurationModeInterval ?? null,
      reported: node.configurationModeInterval,
    },
    {
      label: 'Reports compliance',
      wish: spoken(node.desiredReportCompliance),
      inForce: spoken(inForce?.reportCompliance),
      reported: spoken(node.reportCompliance),
    },
  ];
}

export function LcmCard({ node, inForce }: { node: NodeDetails; inForce: LcmConfig | null }) {
  const [isOpen, setOpen] = useState(false);
  const shown = (value: string | null, none: string) => value ?? <span class="muted">{none}</span>;
  return (
    <section class="card" aria-labelledby="lcm">
      <div class="bar card-head">
        <h2 id="lcm">LCM</h2>
        <Mark word={node.lcmStatus} tone={node.lcmStatus === 'Error' ? 'bad' : 'idle'} />
        {can('nodes.write') && (
          <button type="button" class="small" onClick={() => setOpen(true)}>
            Set wishes
          </button>
        )}
      </div>
      <SimpleTable
        name="LCM settings"
        rows={settingsOf(node, inForce)}
        keyOf={({ label }) => label}
        columns={[
          { label: 'Setting', isName: true, cell: ({ label }) => label },
          { label: 'Wish', cell: ({ wish }) => shown(wish, 'default') },
          { label: 'In force', cell: ({ inForce: value }) => shown(value, "the node's own") },
          { label: 'Reported', cell: ({ reported }) => shown(reported, 'not reported') },
        ]}
      />
      <p class="hint">
        Last check-in: <Time at={node.lastCheckIn} />.{' '}
        {node.isStale
          ? 'That is longer ago than its interval allows, so it counts as stale.'
          : 'It reads wishes at its next cycle.'}
      </p>
      {isOpen && <WishesDialog node={node} onClose={() => setOpen(false)} />}
    </section>
  );
}

const DEFAULT = { value: '', label: "The server's default" };

function WishesDialog({ node, onClose }: { node: NodeDetails; onClose: () => void }) {
  const [mode, setMode] = useState<string>(node.desiredConfigurationMode ?? '');
  const [interval, setInterval] = useState(node.desiredConfigurationModeInterval ?? '');
  const [reports, setReports] = useState(spoken(node.desiredReportCompliance) ?? '');
  const run = async () => {
    await send('PUT', `/nodes${apiPath(node.id)}/lcm-config`, {
      configurationMode: mode === '' ? null : mode,
      configurationModeInterval: interval.trim() === '' ? null : interval.trim(),
      reportCompliance: reports === '' ? null : reports === 'yes',
    });
    return `The wishes for ${node.fqdn} are set.`;
  };
  return (
    <DeedDialog heading={`Set wishes for ${node.fqdn}`} deed="Set wishes" run={run} onClose={onClose}>
      {(problem) => (
        <>
          <SelectField
            label="Mode"
            name="configurationMode"
            value={mode}
            onInput={setMode}
            choices={[DEFAULT, ...['Monitor', 'Remediate'].map((value) => ({ value, label: value }))]}
            hint="Monitor only looks; Remediate sets what is not as it should be."
            problem={problem}
          />
          <Field
            label="Interval"
            name="configurationModeInterval"
            value={interval}
            onInput={setInterval}
            hint="Such as 00:15:00 or PT15M. Empty: the server's default."
            problem={problem}
          />
          <SelectField
            label="Reports compliance"
            name="reportCompliance"
            value={reports}
            onInput={setReports}
            choices={[DEFAULT, { value: 'yes', label: 'yes' }, { value: 'no', label: 'no' }]}
            problem={problem}
          />
        </>
      )}
    </DeedDialog>
  );
}
