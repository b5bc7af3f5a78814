/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function RolePage() {
  return <Page heading="Role" />;
}
