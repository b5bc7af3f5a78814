/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function ConfigurationSettingsPage() {
  return <Page heading="ConfigurationSettings" />;
}
