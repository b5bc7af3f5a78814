/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function NodeParametersPage() {
  return <Page heading="NodeParameters" />;
}
