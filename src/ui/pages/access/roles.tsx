/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function RolesPage() {
  return <Page heading="Roles" />;
}
