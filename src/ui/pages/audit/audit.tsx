/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function AuditPage() {
  return <Page heading="Audit" />;
}
