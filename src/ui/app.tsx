/** The frame around all pages: who is signed in, where one can go, and whether the server answers. */

import { useLayoutEffect } from 'preact/hooks';
import { LocationProvider } from 'preact-iso';
import { Away } from './components/away.tsx';
import { Frozen } from './components/frozen.tsx';
import { Navigation } from './components/navigation.tsx';
import { Palette } from './components/palette.tsx';
import { Problem } from './components/problem.tsx';
import { useResource } from './resource.ts';
import { Pages } from './routes.tsx';
import { me } from './session.ts';
import { leaveForSignIn } from './sign-in.ts';
import type { Me } from './types.ts';

export function App() {
  return (
    <LocationProvider scope="/ui">
      <Frame />
    </LocationProvider>
  );
}

function Frame() {
  const caller = useResource<Me>('/auth/me');
  useLayoutEffect(() => {
    if (caller.data === null) return;
    // Until the password is changed, the server answers nothing else; the sign-in page has the form.
    if (caller.data.requirePasswordChange) leaveForSignIn();
    else me.value = caller.data;
  }, [caller.data]);
  if (me.value === null)
    return (
      <main
        id="main"
        data-state={caller.problem === null ? 'loading' : 'error'}
        aria-busy={caller.problem === null}
      >
        <h1 class="visually-hidden">Hawser</h1>
        <Away />
        {caller.problem !== null && <Problem problem={caller.problem} onRetry={() => void caller.reload()} />}
      </main>
    );
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Navigation />
      <div class="content">
        <Away />
        <Frozen />
        <Pages />
      </div>
      <Palette />
    </>
  );
}
