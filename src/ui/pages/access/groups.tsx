/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function GroupsPage() {
  return <Page heading="Groups" />;
}
