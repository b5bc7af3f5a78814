/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function ConfigurationsPage() {
  return <Page heading="Configurations" />;
}
