/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function ReviewPage() {
  return <Page heading="Review" />;
}
