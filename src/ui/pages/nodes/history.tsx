/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function NodeHistoryPage() {
  return <Page heading="NodeHistory" />;
}
