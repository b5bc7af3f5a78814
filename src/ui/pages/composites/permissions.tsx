/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function CompositePermissionsPage() {
  return <Page heading="CompositePermissions" />;
}
