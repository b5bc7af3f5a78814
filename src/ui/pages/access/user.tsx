/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function UserPage() {
  return <Page heading="User" />;
}
