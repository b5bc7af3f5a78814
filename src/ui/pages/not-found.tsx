/** What stands at addresses that no page has. */

import { ApiProblem } from '../client.ts';
import { Page } from '../components/page.tsx';

export function NotFoundPage() {
  const problem = new ApiProblem(404, {
    code: 'not_found',
    detail: 'The console has no page at this address.',
  });
  return (
    <Page
      heading="Not found"
      of={[{ state: 'error', data: null, total: null, etag: null, problem, reload: async () => undefined }]}
    />
  );
}
