/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function NodeDiffPage() {
  return <Page heading="NodeDiff" />;
}
