/** Links to the parts of one thing. Each is a page of its own with its own address. */

export interface Tab {
  href: string;
  label: string;
}

export function Tabs({ label, tabs, current }: { label: string; tabs: readonly Tab[]; current: string }) {
  return (
    <nav aria-label={label} class="tabs">
      {tabs.map((tab) => (
        <a key={tab.href} href={tab.href} aria-current={tab.label === current ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  );
}
