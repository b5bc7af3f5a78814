/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function ReportsPage() {
  return <Page heading="Reports" />;
}
