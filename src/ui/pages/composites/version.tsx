/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function CompositeVersionPage() {
  return <Page heading="CompositeVersion" />;
}
