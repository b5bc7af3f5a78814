/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function CompositeReviewPage() {
  return <Page heading="CompositeReview" />;
}
