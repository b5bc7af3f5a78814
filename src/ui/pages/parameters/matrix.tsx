/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function ParametersPage() {
  return <Page heading="Parameters" />;
}
