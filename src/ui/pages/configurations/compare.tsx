/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function ComparePage() {
  return <Page heading="Compare" />;
}
