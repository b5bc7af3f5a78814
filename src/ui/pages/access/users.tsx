/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function UsersPage() {
  return <Page heading="Users" />;
}
