/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function MappingsPage() {
  return <Page heading="Mappings" />;
}
