/** The way from an empty server to the first report: six steps, each of which is ticked off by itself. */

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Mark } from '../../components/marks.tsx';
import { notify } from '../../components/notices.tsx';
import { Skeleton } from '../../components/page.tsx';
import { links } from '../../links.ts';
import { can, me } from '../../session.ts';
import type { FleetSummary, RegistrationKey } from '../../types.ts';
import { Joining } from '../keys/joining.tsx';
import { NewKey } from '../keys/new-key.tsx';
import { AssignFirst } from './assign-first.tsx';
import { type Facts, STEPS, type StepName, useFacts } from './facts.ts';
import { FirstConfiguration } from './first-configuration.tsx';

export interface StepListProps {
  summary: FleetSummary;
  /** In milliseconds: how often it looks for what has been done. */
  pause: number;
  /** False once it is closed or known to be done. An open dialog stays. */
  isShown: boolean;
  onClose: () => void;
}

type Open = 'configuration' | 'key' | 'line' | 'assigned';

export function StepList({ summary, pause, isShown, onClose }: StepListProps) {
  const facts = useFacts(summary, pause);
  const [open, setOpen] = useState<Open | null>(null);
  const [made, setMade] = useState<RegistrationKey | null>(null);
  const left = facts === null ? null : STEPS.filter((step) => !facts.done[step]).length;
  useEnd(left);
  const close = () => setOpen(null);
  return (
    <>
      {isShown && facts === null && (
        <section class="part" aria-busy="true">
          <Skeleton lines={6} />
        </section>
      )}
      {isShown && facts !== null && left !== 0 && (
        <Steps facts={facts} hasLine={made !== null} onOpen={setOpen} onClose={onClose} />
      )}
      {open === 'configuration' && <FirstConfiguration onClose={close} />}
      {open === 'key' && (
        <NewKey
          onClose={close}
          onMade={(key) => {
            setMade(key);
            // The dialog closes itself first.
            setTimeout(() => setOpen('line'));
          }}
        />
      )}
      {open === 'line' && made !== null && <Joining made={made} onClose={close} />}
      {open === 'assigned' && facts !== null && <AssignFirst published={facts.published} onClose={close} />}
    </>
  );
}

/** Says it once when the last step is done while somebody looks on. */
function useEnd(left: number | null): void {
  const before = useRef(left);
  useEffect(() => {
    if (left === 0 && before.current !== null && before.current > 0)
      notify('The first steps are done: a node has reported on what is assigned to it.');
    before.current = left;
  }, [left]);
}

interface StepsProps {
  facts: Facts;
  /** The key that was made here is known, with its line. */
  hasLine: boolean;
  onOpen: (dialog: Open) => void;
  onClose: () => void;
}

function Steps({ facts, hasLine, onOpen, onClose }: StepsProps) {
  const id = useId();
  const { done } = facts;
  const now = STEPS.find((step) => !done[step]);
  const count = STEPS.filter((step) => done[step]).length;
  return (
    <section class="card first-steps" aria-labelledby={id}>
      <div class="first-steps-head">
        <h2 id={id}>First steps</h2>
        <p class="muted" role="status">
          {count} of {STEPS.length} steps are done
        </p>
        <button type="button" class="quiet small" onClick={onClose}>
          Close<span class="visually-hidden"> the first steps</span>
        </button>
      </div>
      <ol class="steps">
        {STEPS.map((step, index) => (
          <Step
            key={step}
            name={step}
            number={index + 1}
            isDone={done[step]}
            isNow={step === now}
            deed={<StepDeed {...{ step, facts, hasLine, onOpen }} isNow={step === now} />}
          />
        ))}
      </ol>
    </section>
  );
}

interface StepProps {
  name: StepName;
  number: number;
  isDone: boolean;
  isNow: boolean;
  deed: ComponentChildren;
}

function Step({ name, number, isDone, isNow, deed }: StepProps) {
  const { title, text } = TEXTS[name];
  const waits = isNow && (name === 'node' || name === 'report');
  return (
    <li
      class={`step ${isDone ? 'done' : ''} ${isNow ? 'now' : ''}`}
      data-step={name}
      data-done={String(isDone)}
      aria-current={isNow ? 'step' : undefined}
    >
      <span class="step-number" aria-hidden="true">
        {isDone ? (
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M3 8.5 6.5 12 13 4.5" />
          </svg>
        ) : (
          number
        )}
      </span>
      <div class="step-text">
        <h3>{title}</h3>
        <p class="muted">
          {name === 'password' && isDone ? `You are signed in as ${me.value?.username}.` : text}
        </p>
      </div>
      <div class="step-deed">
        {isDone && <Mark word="Done" />}
        {waits && (
          <span class="waiting">
            <Mark word="Waiting" />
          </span>
        )}
        {deed}
      </div>
    </li>
  );
}

const TEXTS: Record<StepName, { title: string; text: string }> = {
  password: {
    title: 'Sign in, and change the first password',
    text: 'The first password stands in a file or in a setting, so it is good for one sign-in only.',
  },
  configuration: {
    title: 'Publish a configuration',
    text: 'It says what machines should have. Upload your own, or begin with an example: files, a service or a package.',
  },
  key: {
    title: 'Make a registration key',
    text: 'It comes with one line, for a shell or for PowerShell, that joins a machine.',
  },
  node: {
    title: 'Run the line on a machine',
    text: 'The node appears here by itself, a few seconds after the line has run.',
  },
  assigned: {
    title: 'Assign the configuration to the node',
    text: 'From then on the node gets the newest published version, and each new one.',
  },
  report: {
    title: 'See the first report',
    text: "The line has shown at its end how Hawser's agent is started; OpenDSC's agent runs as a service.",
  },
};

interface StepDeedProps extends Pick<StepsProps, 'facts' | 'hasLine' | 'onOpen'> {
  step: StepName;
  isNow: boolean;
}

function StepDeed({ step, facts: { done, published }, hasLine, onOpen, isNow }: StepDeedProps) {
  const button = (dialog: Open, label: string, isReady = true) => (
    <button
      type="button"
      class={isNow ? 'primary' : done[step] ? 'quiet' : ''}
      disabled={!isReady}
      onClick={() => onOpen(dialog)}
    >
      {label}
    </button>
  );
  const link = (href: string, label: string) => (
    <a class={`button ${isNow ? 'primary' : done[step] ? 'quiet' : ''}`} href={href}>
      {label}
    </a>
  );
  switch (step) {
    case 'password':
      return link('/ui/me', 'Your account');
    case 'configuration':
      if (!can('configurations.create')) return <Ask what="create configurations" />;
      return button('configuration', 'Add a configuration');
    case 'key':
      if (!can('registration-keys.manage')) return <Ask what="manage registration keys" />;
      return button('key', 'New registration key');
    case 'node':
      return hasLine && !done.node ? button('line', 'Show the line') : link(links.nodes(), 'Show nodes');
    case 'assigned':
      if (!can('nodes.assign-configuration')) return <Ask what="assign configurations" />;
      return button('assigned', 'Assign', done.node && published.length > 0);
    case 'report':
      return can('reports.read-all') ? link(links.reports(), 'Show reports') : null;
  }
}

/** What the user may not do is for somebody else. */
function Ask({ what }: { what: string }) {
  return <span class="hint">Ask somebody who may {what}.</span>;
}
