/** Every page with its address. The program of a page is loaded when somebody goes there first. */

import type { ComponentType } from 'preact';
import { lazy, Route, Router } from 'preact-iso';
import { exec } from 'preact-iso/router';
import { Boundary, loadAnew } from './components/boundary.tsx';
import { NotFoundPage } from './pages/not-found.tsx';
import { isLeaving } from './router.ts';

/** What a page gets: the parts of its address. */
type PageComponent = ComponentType<{ id: string; name: string; version: string; range: string }> & {
  preload(): Promise<unknown>;
};

const PAGES: readonly (readonly [path: string, page: PageComponent])[] = [
  ['/ui/', lazy(() => import('./pages/fleet.ts').then((all) => all.FleetPage, loadAnew))],
  ['/ui/nodes', lazy(() => import('./pages/nodes.ts').then((all) => all.NodesPage, loadAnew))],
  ['/ui/nodes/:id', lazy(() => import('./pages/nodes.ts').then((all) => all.NodePage, loadAnew))],
  [
    '/ui/nodes/:id/parameters',
    lazy(() => import('./pages/nodes.ts').then((all) => all.NodeParametersPage, loadAnew)),
  ],
  ['/ui/nodes/:id/diff', lazy(() => import('./pages/nodes.ts').then((all) => all.NodeDiffPage, loadAnew))],
  [
    '/ui/nodes/:id/reports',
    lazy(() => import('./pages/fleet.ts').then((all) => all.NodeReportsPage, loadAnew)),
  ],
  [
    '/ui/nodes/:id/history',
    lazy(() => import('./pages/nodes.ts').then((all) => all.NodeHistoryPage, loadAnew)),
  ],
  ['/ui/reports', lazy(() => import('./pages/fleet.ts').then((all) => all.ReportsPage, loadAnew))],
  ['/ui/reports/:id', lazy(() => import('./pages/fleet.ts').then((all) => all.ReportPage, loadAnew))],
  [
    '/ui/configurations',
    lazy(() => import('./pages/configurations.ts').then((all) => all.ConfigurationsPage, loadAnew)),
  ],
  [
    '/ui/configurations/:name',
    lazy(() => import('./pages/configurations.ts').then((all) => all.ConfigurationPage, loadAnew)),
  ],
  [
    '/ui/configurations/:name/permissions',
    lazy(() => import('./pages/configurations.ts').then((all) => all.ConfigurationPermissionsPage, loadAnew)),
  ],
  [
    '/ui/configurations/:name/settings',
    lazy(() => import('./pages/configurations.ts').then((all) => all.ConfigurationSettingsPage, loadAnew)),
  ],
  [
    '/ui/configurations/:name/versions/:version',
    lazy(() => import('./pages/configurations.ts').then((all) => all.VersionPage, loadAnew)),
  ],
  [
    '/ui/configurations/:name/compare/:range',
    lazy(() => import('./pages/configurations.ts').then((all) => all.ComparePage, loadAnew)),
  ],
  [
    '/ui/configurations/:name/drafts/:version',
    lazy(() => import('./pages/drafts.ts').then((all) => all.DraftPage, loadAnew)),
  ],
  [
    '/ui/configurations/:name/drafts/:version/review',
    lazy(() => import('./pages/drafts.ts').then((all) => all.ReviewPage, loadAnew)),
  ],
  [
    '/ui/configurations/:name/rollouts/:version',
    lazy(() => import('./pages/configurations.ts').then((all) => all.RolloutPage, loadAnew)),
  ],
  [
    '/ui/configurations/:name/parameters',
    lazy(() => import('./pages/parameters.ts').then((all) => all.ParametersPage, loadAnew)),
  ],
  [
    '/ui/configurations/:name/parameters/file',
    lazy(() => import('./pages/parameters.ts').then((all) => all.ParameterFilePage, loadAnew)),
  ],
  [
    '/ui/composites',
    lazy(() => import('./pages/configurations.ts').then((all) => all.CompositesPage, loadAnew)),
  ],
  [
    '/ui/composites/:name',
    lazy(() => import('./pages/configurations.ts').then((all) => all.CompositePage, loadAnew)),
  ],
  [
    '/ui/composites/:name/permissions',
    lazy(() => import('./pages/configurations.ts').then((all) => all.CompositePermissionsPage, loadAnew)),
  ],
  [
    '/ui/composites/:name/settings',
    lazy(() => import('./pages/configurations.ts').then((all) => all.CompositeSettingsPage, loadAnew)),
  ],
  [
    '/ui/composites/:name/versions/:version',
    lazy(() => import('./pages/configurations.ts').then((all) => all.CompositeVersionPage, loadAnew)),
  ],
  [
    '/ui/composites/:name/compare/:range',
    lazy(() => import('./pages/configurations.ts').then((all) => all.CompositeComparePage, loadAnew)),
  ],
  [
    '/ui/composites/:name/drafts/:version',
    lazy(() => import('./pages/configurations.ts').then((all) => all.CompositeDraftPage, loadAnew)),
  ],
  [
    '/ui/composites/:name/drafts/:version/review',
    lazy(() => import('./pages/configurations.ts').then((all) => all.CompositeReviewPage, loadAnew)),
  ],
  [
    '/ui/composites/:name/rollouts/:version',
    lazy(() => import('./pages/configurations.ts').then((all) => all.CompositeRolloutPage, loadAnew)),
  ],
  [
    '/ui/change-sets',
    lazy(() => import('./pages/change-sets.ts').then((all) => all.ChangeSetsPage, loadAnew)),
  ],
  [
    '/ui/change-sets/:id',
    lazy(() => import('./pages/change-sets.ts').then((all) => all.ChangeSetPage, loadAnew)),
  ],
  ['/ui/scopes', lazy(() => import('./pages/parameters.ts').then((all) => all.ScopesPage, loadAnew))],
  ['/ui/access/users', lazy(() => import('./pages/server.ts').then((all) => all.UsersPage, loadAnew))],
  ['/ui/access/users/:id', lazy(() => import('./pages/server.ts').then((all) => all.UserPage, loadAnew))],
  ['/ui/access/groups', lazy(() => import('./pages/server.ts').then((all) => all.GroupsPage, loadAnew))],
  ['/ui/access/groups/:id', lazy(() => import('./pages/server.ts').then((all) => all.GroupPage, loadAnew))],
  ['/ui/access/roles', lazy(() => import('./pages/server.ts').then((all) => all.RolesPage, loadAnew))],
  ['/ui/access/roles/:id', lazy(() => import('./pages/server.ts').then((all) => all.RolePage, loadAnew))],
  ['/ui/access/mappings', lazy(() => import('./pages/server.ts').then((all) => all.MappingsPage, loadAnew))],
  [
    '/ui/registration-keys',
    lazy(() => import('./pages/server.ts').then((all) => all.RegistrationKeysPage, loadAnew)),
  ],
  ['/ui/retention', lazy(() => import('./pages/server.ts').then((all) => all.RetentionPage, loadAnew))],
  ['/ui/webhooks', lazy(() => import('./pages/server.ts').then((all) => all.WebhooksPage, loadAnew))],
  ['/ui/webhooks/:id', lazy(() => import('./pages/server.ts').then((all) => all.WebhookPage, loadAnew))],
  ['/ui/audit', lazy(() => import('./pages/fleet.ts').then((all) => all.AuditPage, loadAnew))],
  ['/ui/settings', lazy(() => import('./pages/server.ts').then((all) => all.SettingsPage, loadAnew))],
  ['/ui/me', lazy(() => import('./pages/server.ts').then((all) => all.MePage, loadAnew))],
];

/** Begins to load the program of the page that the browser opens, while it is not known yet who the user is. */
export function loadPageOf(path: string): void {
  try {
    void PAGES.find(([route]) => exec(path, route) !== undefined)?.[1].preload();
  } catch {
    // Some addresses cannot be read, such as one that ends in %. The router says so.
  }
}

export function Pages() {
  return (
    <Boundary>
      <Router onLoadStart={() => (isLeaving.value = true)} onLoadEnd={() => (isLeaving.value = false)}>
        {PAGES.map(([path, component]) => (
          <Route key={path} path={path} component={component} />
        ))}
        <Route default component={NotFoundPage} />
      </Router>
    </Boundary>
  );
}
