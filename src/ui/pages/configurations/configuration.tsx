/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function ConfigurationPage() {
  return <Page heading="Configuration" />;
}
