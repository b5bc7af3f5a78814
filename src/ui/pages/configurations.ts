/** The pages of configurations and composites. They are loaded together: few files are quicker than many, and the next page is there already. */

export { CompositeComparePage } from './composites/compare.tsx';
export { CompositePage } from './composites/composite.tsx';
export { CompositeDraftPage } from './composites/draft.tsx';
export { CompositesPage } from './composites/list.tsx';
export { CompositePermissionsPage } from './composites/permissions.tsx';
export { CompositeReviewPage } from './composites/review.tsx';
export { CompositeSettingsPage } from './composites/settings.tsx';
export { CompositeVersionPage } from './composites/version.tsx';
export { ComparePage } from './configurations/compare.tsx';
export { ConfigurationPage } from './configurations/configuration.tsx';
export { ConfigurationsPage } from './configurations/list.tsx';
export { ConfigurationPermissionsPage } from './configurations/permissions.tsx';
export { ConfigurationSettingsPage } from './configurations/settings.tsx';
export { VersionPage } from './configurations/version.tsx';
export { CompositeRolloutPage, RolloutPage } from './rollouts/rollout.tsx';
