/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function CompositeComparePage() {
  return <Page heading="CompositeCompare" />;
}
