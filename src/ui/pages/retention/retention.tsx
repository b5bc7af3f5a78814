/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function RetentionPage() {
  return <Page heading="Retention" />;
}
