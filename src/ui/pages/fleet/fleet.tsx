/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function FleetPage() {
  return <Page heading="Fleet" />;
}
