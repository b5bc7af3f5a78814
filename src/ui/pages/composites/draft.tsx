/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function CompositeDraftPage() {
  return <Page heading="CompositeDraft" />;
}
