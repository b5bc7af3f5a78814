/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function DraftPage() {
  return <Page heading="Draft" />;
}
