/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function NodePage() {
  return <Page heading="Node" />;
}
