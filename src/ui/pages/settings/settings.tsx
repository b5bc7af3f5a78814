/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function SettingsPage() {
  return <Page heading="Settings" />;
}
