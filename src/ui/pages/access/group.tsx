/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function GroupPage() {
  return <Page heading="Group" />;
}
