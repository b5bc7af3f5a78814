/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function VersionPage() {
  return <Page heading="Version" />;
}
