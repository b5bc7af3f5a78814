/** The links to all parts of the console that the user may see, and the way out. */

import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useBasket } from '../basket.ts';
import { links } from '../links.ts';
import { useResource } from '../resource.ts';
import { me, signOut } from '../session.ts';
import type { ChangeSet } from '../types.ts';
import { DeedButton } from './dialog.tsx';
import { GROUPS, type NavigationGroup, shownIn } from './navigation-entries.ts';
import { openPalette } from './palette.tsx';

export function Navigation() {
  const { path } = useLocation();
  const menu = useRef<HTMLDetailsElement>(null);
  // On narrow screens the menu covers the page, so it closes once a page was chosen.
  useEffect(() => {
    if (menu.current !== null && getComputedStyle(menu.current).position === 'sticky')
      menu.current.open = false;
  }, [path]);
  useEffect(() => {
    const wide = matchMedia('(min-width: 60rem)');
    const follow = () => {
      if (menu.current !== null) menu.current.open = wide.matches;
    };
    follow();
    wide.addEventListener('change', follow);
    return () => wide.removeEventListener('change', follow);
  }, []);
  return (
    <header class="side">
      <a href="/ui/" class="brand">
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M5 2v12M11 2v12M5 8h6" />
        </svg>
        Hawser
      </a>
      <button type="button" class="find" onClick={openPalette} aria-keyshortcuts="Control+K">
        <span>Search</span> <kbd>Ctrl K</kbd>
      </button>
      <ChangeLinks />
      <details ref={menu} class="menu">
        <summary>Menu</summary>
        <nav aria-label="Main">
          {GROUPS.map((group) => (
            <Group key={group.label} group={group} path={path} />
          ))}
        </nav>
        <div class="who">
          <a href="/ui/me" aria-current={path === '/ui/me' ? 'page' : undefined}>
            {me.value?.username}
          </a>
          <DeedButton
            deed="Sign out"
            class="quiet"
            run={async () => {
              await signOut();
              return null;
            }}
          />
        </div>
      </details>
    </header>
  );
}

/** In milliseconds. Whoever has proposed something tells its approvers, so that nobody waits for this. */
const APPROVABLE_PAUSE = 60_000;

/** The change set that is being collected, and how many wait for an approval of the user. */
function ChangeLinks() {
  const { id, deeds } = useBasket();
  const approvable = useResource<ChangeSet[]>('/change-sets?approvable=true&take=1', {
    pause: () => APPROVABLE_PAUSE,
  });
  const waiting = approvable.total ?? 0;
  if (id === null && waiting === 0) return null;
  return (
    <ul class="changes" aria-label="Changes">
      {id !== null && (
        <li>
          <a href={links.changeSet(id)}>
            Change {id}
            {deeds !== null && `: ${deeds} ${deeds === 1 ? 'deed' : 'deeds'}`}
          </a>
        </li>
      )}
      {waiting > 0 && (
        <li>
          <a href={links.changeSets({ approvable: 'true' })}>{waiting} to approve</a>
        </li>
      )}
    </ul>
  );
}

function Group({ group, path }: { group: NavigationGroup; path: string }) {
  const shown = shownIn(group);
  if (shown.length === 0) return null;
  return (
    <>
      <p class="nav-group" aria-hidden="true">
        {group.label}
      </p>
      <ul>
        {shown.map(({ href, label }) => (
          <li key={href}>
            <a href={href} aria-current={isCurrent(path, href) ? 'page' : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The start page stands above all others, so only it itself is current there. */
function isCurrent(path: string, href: string): boolean {
  if (href === '/ui/') return path === '/ui';
  return path === href || path.startsWith(`${href}/`);
}
