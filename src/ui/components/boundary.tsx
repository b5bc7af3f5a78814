/** What happens when the program of a page fails, or cannot be loaded because the server has a newer one. */

import { Component, type ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { ApiProblem } from '../client.ts';
import { Page } from './page.tsx';

/** The page was loaded anew at this time, in epoch milliseconds, because a part of it was not there any more. */
const LOADED_ANEW = 'hawser.loaded-anew';
/** In milliseconds. A part that is missing again so soon will not come by loading once more. */
const PAUSE = 60_000;

/**
 * A part of the program could not be loaded. After an update of the server its parts have other names, so the page is
 * loaded anew, once.
 */
export function loadAnew(): typeof MissingPage {
  const before = Number(sessionStorage.getItem(LOADED_ANEW) ?? 0);
  if (Date.now() - before > PAUSE) {
    sessionStorage.setItem(LOADED_ANEW, String(Date.now()));
    location.reload();
  }
  return MissingPage;
}

function MissingPage() {
  return (
    <Failure code="unreachable" detail="A part of the console could not be loaded. Is the server there?" />
  );
}

function Failure({ code, detail }: { code: string; detail: string }) {
  const problem = new ApiProblem(0, { code, detail });
  const reload = async () => location.reload();
  return (
    <Page heading="Hawser" of={[{ state: 'error', data: null, total: null, etag: null, problem, reload }]} />
  );
}

export function Boundary({ children }: { children: ComponentChildren }) {
  const { path } = useLocation();
  return <Catcher path={path}>{children}</Catcher>;
}

interface CatcherProps {
  path: string;
  children: ComponentChildren;
}

interface CatcherState {
  error: unknown;
  path: string;
}

class Catcher extends Component<CatcherProps, CatcherState> {
  override state: CatcherState = { error: null, path: this.props.path };

  /** Another page begins anew. */
  static override getDerivedStateFromProps({ path }: CatcherProps, state: CatcherState): CatcherState | null {
    return path === state.path ? null : { error: null, path };
  }

  override componentDidCatch(error: unknown): void {
    // The browser's console is where a person who reports this will look.
    reportError(error);
    this.setState({ error });
  }

  override render({ children }: CatcherProps) {
    if (this.state.error === null) return children;
    return <Failure code="console_failed" detail="The console failed to show this page. Please report it." />;
  }
}
