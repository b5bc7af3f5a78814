/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function ConfigurationPermissionsPage() {
  return <Page heading="ConfigurationPermissions" />;
}
