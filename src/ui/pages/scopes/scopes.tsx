/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function ScopesPage() {
  return <Page heading="Scopes" />;
}
