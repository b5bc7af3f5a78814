/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function ParameterFilePage() {
  return <Page heading="ParameterFile" />;
}
