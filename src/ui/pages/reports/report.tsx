/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function ReportPage() {
  return <Page heading="Report" />;
}
