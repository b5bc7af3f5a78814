/** What docs/openapi.json declares, as types. `npm run api-types` writes this file; do not change it by hand. */

/** The parts of a form: plain fields, and files in parts of these names. */
export interface FormOf<Fields, Parts extends string> {
  fields: Fields;
  files: readonly { part: Parts; filename: string; content: Uint8Array }[];
}

/** A body that is sent as it is. */
export interface BytesOf<Type extends string> {
  type: Type;
  content: Uint8Array;
}

export interface Schemas {
  ActivityEntry: {
    id: string;
    timestamp: string;
    actorName: string | null;
    action: string;
    resourceType: 'Node' | 'Configuration' | 'Parameters' | 'CompositeConfiguration';
    resourceId: string;
    resourceName: string | null;
    summary: string;
  };
  AffectedParameterFile: {
    scopeTypeName: string;
    scopeValue: string | null;
    version: string;
    needsMigration: boolean;
    errors: Schemas['FieldError'][];
  };
  AnnouncedCertificate: {
    message: string;
    certificate?: string | undefined;
  };
  AuditEntry: {
    id: string;
    timestamp: string;
    actorType: 'User' | 'Node' | 'System' | 'Anonymous';
    actorId: string | null;
    actorName: string | null;
    action: string;
    resourceType: string;
    resourceId: string | null;
    resourceName: string | null;
    summary: string;
    details: Record<string, unknown> | null;
    ipAddress: string | null;
    requestId: string | null;
  };
  BlamedLines: {
    startLine: number;
    lineCount: number;
    version: string;
    commit: string;
    author: string;
    authoredAt: string;
  };
  BulkDeed: {
    action: 'Assign';
    nodeIds?: string[] | null | undefined;
    filter?: Schemas['BulkFilter'] | null | undefined;
    expectedCount?: number | null | undefined;
    configurationName: string;
    isComposite?: boolean | null | undefined;
    majorVersion?: number | null | undefined;
    prereleaseChannel?: string | null | undefined;
    version?: string | null | undefined;
  } | {
    action: 'Unassign';
    nodeIds?: string[] | null | undefined;
    filter?: Schemas['BulkFilter'] | null | undefined;
    expectedCount?: number | null | undefined;
  } | {
    action: 'Tag';
    nodeIds?: string[] | null | undefined;
    filter?: Schemas['BulkFilter'] | null | undefined;
    expectedCount?: number | null | undefined;
    scopeValueId: string;
  } | {
    action: 'Untag';
    nodeIds?: string[] | null | undefined;
    filter?: Schemas['BulkFilter'] | null | undefined;
    expectedCount?: number | null | undefined;
    scopeValueId: string;
  } | {
    action: 'SetTags';
    nodeIds?: string[] | null | undefined;
    filter?: Schemas['BulkFilter'] | null | undefined;
    expectedCount?: number | null | undefined;
    scopeValueIds: string[];
  } | {
    action: 'SetLcmConfig';
    nodeIds?: string[] | null | undefined;
    filter?: Schemas['BulkFilter'] | null | undefined;
    expectedCount?: number | null | undefined;
    configurationMode?: 'Monitor' | 'Remediate' | null | undefined;
    configurationModeInterval?: string | null | undefined;
    reportCompliance?: boolean | null | undefined;
  } | {
    action: 'Delete';
    nodeIds?: string[] | null | undefined;
    filter?: Schemas['BulkFilter'] | null | undefined;
    expectedCount?: number | null | undefined;
  } | {
    action: 'Expect';
    rows: Schemas['NewExpectedNode'][];
  };
  BulkFilter: {
    fqdn?: string | null | undefined;
    status?: 'Unknown' | 'Compliant' | 'NonCompliant' | 'Error' | null | undefined;
    lcmStatus?: 'Unknown' | 'Idle' | 'Downloading' | 'Testing' | 'Remediating' | 'Error' | null | undefined;
    configurationName?: string | null | undefined;
    stale?: boolean | null | undefined;
    scopeValueId?: unknown | null | undefined;
    withoutScopeTypeId?: string | null | undefined;
    unassigned?: boolean | null | undefined;
    version?: string | null | undefined;
    evidence?: 'Told' | 'Served' | 'Declared' | null | undefined;
    certificateExpiring?: boolean | null | undefined;
    awaiting?: boolean | null | undefined;
    registrationKeyId?: string | null | undefined;
    hasParameterProblems?: boolean | null | undefined;
  };
  BulkResult: {
    done: number;
    unchanged: number;
    failed: ({
      nodeId: string | null;
      fqdn: string | null;
      code: string;
      message: string;
    })[];
  };
  CertificateAnnouncement: {
    certificateThumbprint?: string | null | undefined;
    certificateSubject?: string | null | undefined;
    certificateNotAfter?: string | null | undefined;
    certificate?: string | null | undefined;
    csr?: string | null | undefined;
  };
  CloudEvent: {
    specversion: '1.0';
    id: string;
    source: string;
    type: string;
    time: string;
    subject: string;
    datacontenttype: 'application/json';
    data: Record<string, unknown>;
  };
  Comparison: {
    from: {
      version: string;
      status: 'Draft' | 'Published';
      commit: string;
    } | null;
    to: {
      version: string;
      status: 'Draft' | 'Published';
      commit: string;
    };
    totals: {
      added: number;
      removed: number;
      modified: number;
      renamed: number;
      additions: number;
      deletions: number;
    };
    files: Schemas['FileChange'][];
  };
  CompatibilityReport: {
    oldVersion: string;
    newVersion: string;
    hasBreakingChanges: boolean;
    breakingChanges: ({
      parameterName: string;
      changeType: 'ParameterRemoved' | 'ParameterAdded' | 'TypeChanged' | 'BecameRequired' | 'BecameOptional' | 'AllowedValuesReduced' | 'AllowedValuesExpanded' | 'AllowedValuesAdded' | 'AllowedValuesRemoved' | 'MinValueIncreased' | 'MinValueDecreased' | 'MaxValueDecreased' | 'MaxValueIncreased' | 'MinLengthIncreased' | 'MinLengthDecreased' | 'MaxLengthDecreased' | 'MaxLengthIncreased';
      oldValue: string | null;
      newValue: string | null;
      description: string;
    })[];
    nonBreakingChanges: ({
      parameterName: string;
      changeType: 'ParameterRemoved' | 'ParameterAdded' | 'TypeChanged' | 'BecameRequired' | 'BecameOptional' | 'AllowedValuesReduced' | 'AllowedValuesExpanded' | 'AllowedValuesAdded' | 'AllowedValuesRemoved' | 'MinValueIncreased' | 'MinValueDecreased' | 'MaxValueDecreased' | 'MaxValueIncreased' | 'MinLengthIncreased' | 'MinLengthDecreased' | 'MaxLengthDecreased' | 'MaxLengthIncreased';
      oldValue: string | null;
      newValue: string | null;
      description: string;
    })[];
    affectedParameterFiles: Schemas['AffectedParameterFile'][];
  };
  Composite: {
    id: string;
    name: string;
    description: string | null;
    entryPoint: string;
    versionCount: number | null;
    latestVersion: string | null;
    latestPublishedVersion: string | null;
    createdAt: string;
    updatedAt: string;
    access: 'Read' | 'Modify' | 'Manage' | null;
  };
  CompositeChildChange: {
    activeVersion?: string | null | undefined;
    majorVersion?: number | null | undefined;
    order?: number | null | undefined;
  };
  CompositeComparison: {
    from: {
      version: string;
      status: 'Draft' | 'Published';
      commit: string;
    } | null;
    to: {
      version: string;
      status: 'Draft' | 'Published';
      commit: string;
    };
    entryPoint: {
      before: string | null;
      after: string;
    };
    children: ({
      childConfigurationName: string;
      change: 'Added' | 'Removed' | 'Modified' | 'Unchanged';
      before: {
        activeVersion: string | null;
        majorVersion?: number | undefined;
        order: number;
      } | null;
      after: {
        activeVersion: string | null;
        majorVersion?: number | undefined;
        order: number;
      } | null;
    })[];
  };
  CompositeDetails: {
    id: string;
    name: string;
    description: string | null;
    entryPoint: string;
    versionCount: number | null;
    latestVersion: string | null;
    latestPublishedVersion: string | null;
    createdAt: string;
    updatedAt: string;
    access: 'Read' | 'Modify' | 'Manage' | null;
    versions: Schemas['CompositeVersion'][];
  };
  CompositeItem: {
    id: string;
    childConfigurationId: string | null;
    childConfigurationName: string;
    activeVersion: string | null;
    majorVersion: number | null;
    order: number;
    pinnedToWithdrawn: boolean;
  };
  CompositeVersion: {
    id: string;
    version: string;
    status: 'Draft' | 'Published';
    prereleaseChannel: string | null;
    items: Schemas['CompositeItem'][];
    findings: Schemas['Finding'][] | null;
    createdAt: string;
    createdBy: string;
    author: {
      name: string;
      email: string;
    } | null;
    publishedAt: string | null;
    publishedBy: string | null;
    commit: string;
    message: string | null;
    signature: 'OpenPgp' | 'Ssh' | 'X509' | null;
    withdrawn: {
      at: string;
      by: string;
      reason: string;
    } | null;
    rollout: {
      state: 'Running' | 'Paused' | 'Halted' | 'Completed' | 'Superseded';
      step: number;
      steps: number;
    } | null;
  };
  CompositeWithdrawal: Schemas['CompositeVersion'] | Schemas['WithdrawalEffect'];
  Configuration: {
    id: string;
    name: string;
    description: string | null;
    useServerManagedParameters: boolean;
    versionCount: number | null;
    latestVersion: string | null;
    latestPublishedVersion: string | null;
    createdAt: string;
    updatedAt: string;
    access: 'Read' | 'Modify' | 'Manage' | null;
    parametersAccess: 'Read' | 'Modify' | 'Manage' | null;
  };
  ConfigurationChange: {
    description?: string | null | undefined;
    useServerManagedParameters?: boolean | null | undefined;
  };
  ConfigurationChecksum: {
    checksum: string;
    entryPoint: string;
    parametersFile: string | null;
    configurationName: string;
    version: string;
  };
  ConfigurationHistory: {
    buckets: ({
      from: string;
      to: string;
      nodes: number | null;
      compliant: number | null;
      nonCompliant: number | null;
      error: number | null;
      unknown: number | null;
      stale: number | null;
      versions: {
        version: string;
        nodes: number;
      }[] | null;
    })[];
    events: ({
      at: string;
      kind: 'Publish' | 'Withdrawal' | 'Rollout' | 'Freeze';
      summary: string;
      link: string | null;
    })[];
  };
  ConfigurationRetention: {
    isOverridden: boolean;
    enabled: boolean | null;
    keepVersions: number | null;
    keepDays: number | null;
    keepReleaseVersions: boolean | null;
  };
  ConfigurationRetentionChange: {
    enabled?: boolean | null | undefined;
    keepVersions?: number | null | undefined;
    keepDays?: number | null | undefined;
    keepReleaseVersions?: boolean | null | undefined;
  };
  ConfigurationSettings: {
    isOverridden: boolean;
    requireSemVer: boolean;
    parameterValidationMode: 'None' | 'Warn' | 'Strict';
    documentChecks: 'None' | 'Warn' | 'Strict';
  };
  ConfigurationSettingsChange: {
    requireSemVer?: boolean | null | undefined;
    parameterValidationMode?: 'None' | 'Warn' | 'Strict' | null | undefined;
    documentChecks?: 'None' | 'Warn' | 'Strict' | null | undefined;
  };
  ConfigurationVersion: {
    version: string;
    status: 'Draft' | 'Published';
    entryPoint: string;
    prereleaseChannel: string | null;
    fileCount: number;
    findings: Schemas['Finding'][] | null;
    createdAt: string;
    createdBy: string;
    author: {
      name: string;
      email: string;
    } | null;
    publishedAt: string | null;
    publishedBy: string | null;
    commit: string;
    message: string | null;
    signature: 'OpenPgp' | 'Ssh' | 'X509' | null;
    withdrawn: {
      at: string;
      by: string;
      reason: string;
    } | null;
    rollout: {
      state: 'Running' | 'Paused' | 'Halted' | 'Completed' | 'Superseded';
      step: number;
      steps: number;
    } | null;
  };
  ConfigurationVersionDetails: {
    version: string;
    status: 'Draft' | 'Published';
    entryPoint: string;
    prereleaseChannel: string | null;
    fileCount: number;
    findings: Schemas['Finding'][] | null;
    createdAt: string;
    createdBy: string;
    author: {
      name: string;
      email: string;
    } | null;
    publishedAt: string | null;
    publishedBy: string | null;
    commit: string;
    message: string | null;
    signature: 'OpenPgp' | 'Ssh' | 'X509' | null;
    withdrawn: {
      at: string;
      by: string;
      reason: string;
    } | null;
    rollout: {
      state: 'Running' | 'Paused' | 'Halted' | 'Completed' | 'Superseded';
      step: number;
      steps: number;
    } | null;
    files: {
      path: string;
      size: number;
      checksum: string;
      contentType: string;
    }[];
  };
  ConfigurationWithdrawal: Schemas['ConfigurationVersion'] | Schemas['WithdrawalEffect'];
  CopiedConfigurationVersion: {
    version?: string | null | undefined;
    from: string;
    prereleaseChannel?: string | null | undefined;
    message?: string | null | undefined;
  };
  CreatedConfiguration: {
    id: string;
    name: string;
    description: string | null;
    useServerManagedParameters: boolean;
    versionCount: number | null;
    latestVersion: string | null;
    latestPublishedVersion: string | null;
    createdAt: string;
    updatedAt: string;
    access: 'Read' | 'Modify' | 'Manage' | null;
    parametersAccess: 'Read' | 'Modify' | 'Manage' | null;
    ignoredFiles: string[];
  };
  CreatedToken: {
    token: string;
    tokenId: string;
    name: string;
    tokenPrefix: string;
    scopes: string[];
    expiresAt: string | null;
    createdAt: string;
  };
  CurrentUser: {
    userId: string;
    username: string;
    email: string;
    accountType: 'User' | 'ServiceAccount';
    roles: string[];
    groups: string[];
    permissions: string[];
    authProvider: string;
    authMethod: 'Session' | 'Token';
    requirePasswordChange: boolean;
    freeze: Schemas['FreezeInForce'] | null;
  };
  DocumentCheck: {
    findings: Schemas['Finding'][];
    ignoredFiles: string[];
  };
  ExchangedToken: {
    access_token: string;
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token';
    token_type: 'Bearer';
    expires_in: number;
    scope: string;
  };
  ExternalMapping: {
    id: string;
    provider: string;
    externalGroupId: string;
    externalGroupName: string | null;
    groupId: string;
    groupName: string;
    createdAt: string;
  };
  Federation: {
    id: string;
    issuer: string;
    claims: Record<string, string | number | boolean>;
    scopes: string[];
    lifetimeMinutes: number;
    createdAt: string;
  };
  FieldError: {
    path: string;
    message: string;
    code: string;
    line?: number | undefined;
    column?: number | undefined;
  };
  FileChange: {
    path: string;
    previousPath: string | null;
    change: 'Added' | 'Removed' | 'Modified' | 'Renamed';
    isBinary: boolean;
    sizeBefore: number | null;
    sizeAfter: number | null;
    checksumBefore: string | null;
    checksumAfter: string | null;
    executableBefore: boolean | null;
    executableAfter: boolean | null;
    additions: number | null;
    deletions: number | null;
  };
  FileDiff: {
    path: string;
    previousPath: string | null;
    change: 'Added' | 'Removed' | 'Modified' | 'Renamed' | 'Unchanged';
    isBinary: boolean;
    isTooLarge: boolean;
    hunks: ({
      oldStart: number;
      oldLines: number;
      newStart: number;
      newLines: number;
      lines: ({
        kind: 'Context' | 'Added' | 'Removed';
        oldNumber: number | null;
        newNumber: number | null;
        text: string;
      })[];
    })[];
    endsWithoutNewline: {
      before: boolean;
      after: boolean;
    };
  };
  Finding: {
    severity: 'Error' | 'Warning';
    code: 'document_encoding' | 'document_syntax' | 'document_shape' | 'unknown_member' | 'duplicate_name' | 'undeclared_parameter' | 'include_missing' | 'include_in_child' | 'secret_default' | 'tag_not_read' | 'builds_on_withdrawn';
    message: string;
    path: string | null;
    file: string;
    line: number | null;
    column: number | null;
  };
  FleetHistory: {
    buckets: ({
      from: string;
      to: string;
      nodes: number | null;
      compliant: number | null;
      nonCompliant: number | null;
      error: number | null;
      unknown: number | null;
      stale: number | null;
    })[];
    events: ({
      at: string;
      kind: 'Publish' | 'Withdrawal' | 'Rollout' | 'Freeze';
      summary: string;
      link: string | null;
    })[];
  };
  FleetSummary: {
    nodes: number;
    byStatus: {
      Unknown: number;
      Compliant: number;
      NonCompliant: number;
      Error: number;
    };
    byLcmStatus: {
      Unknown: number;
      Idle: number;
      Downloading: number;
      Testing: number;
      Remediating: number;
      Error: number;
    };
    stale: number;
    unassigned: number;
    neverCheckedIn: number;
    certificatesExpiring: number;
    configurations: {
      name: string;
      isComposite: boolean;
      nodes: number;
      byStatus: {
        Unknown: number;
        Compliant: number;
        NonCompliant: number;
        Error: number;
      };
    }[];
  };
  Freeze: {
    isFrozen: boolean;
    reason: string | null;
    until: string | null;
    frozenBy: string | null;
    frozenAt: string | null;
  };
  FreezeInForce: {
    reason: string;
    until: string;
    frozenBy: string;
    frozenAt: string;
  };
  Grant: {
    principalType: 'User' | 'Group';
    principalId: string;
    principalName: string;
    level: 'Read' | 'Modify' | 'Manage';
    grantedAt: string;
    grantedByUserId: string | null;
  };
  Group: {
    id: string;
    name: string;
    description: string | null;
    createdAt: string;
    modifiedAt: string;
  };
  GroupContent: {
    name: string;
    description?: string | null | undefined;
  };
  GroupDetails: {
    id: string;
    name: string;
    description: string | null;
    createdAt: string;
    modifiedAt: string;
    members: Schemas['GroupMember'][];
    roles: Schemas['GroupRole'][];
  };
  GroupMember: {
    id: string;
    username: string;
    email: string;
    accountType: 'User' | 'ServiceAccount';
    isActive: boolean;
    requirePasswordChange: boolean;
    lockoutEnd: string | null;
    createdAt: string;
    modifiedAt: string;
    source: string;
  };
  GroupMemberIds: {
    userIds: string[];
  };
  GroupRole: {
    id: string;
    name: string;
    isSystemRole: boolean;
  };
  GroupRoleIds: {
    roleIds: string[];
  };
  Health: {
    status: 'Healthy';
    timestamp: string;
  };
  Identity: {
    id: string;
    provider: string;
    issuer: string;
    subject: string;
    lastSignInAt: string;
    createdAt: string;
  };
  IdentityProvider: {
    name: string;
    label: string;
  };
  JoinLine: {
    line: string;
    script: string;
  };
  JoiningRule: {
    fqdnPattern: string;
    scopeValueIds: string[];
    assignment: {
      configurationName: string;
      isComposite: boolean;
      majorVersion: number | null;
      prereleaseChannel: string | null;
      version: string | null;
    } | null;
  };
  JoiningRulesCheck: {
    fqdns: string[];
  };
  JoiningRulesChecked: {
    fqdn: string;
    scopeValueIds: string[];
    assignment: {
      configurationName: string;
      isComposite: boolean;
      majorVersion: number | null;
      prereleaseChannel: string | null;
      version: string | null;
    } | null;
  };
  LcmConfig: {
    configurationMode: 'Monitor' | 'Remediate' | null;
    configurationModeInterval: string | null;
    reportCompliance: boolean | null;
    certificateRotationInterval: string;
  };
  LcmConfigChange: {
    configurationMode?: 'Monitor' | 'Remediate' | null | undefined;
    configurationModeInterval?: string | null | undefined;
    reportCompliance?: boolean | null | undefined;
  };
  LcmDefaults: {
    defaultConfigurationMode: 'Monitor' | 'Remediate' | null;
    defaultConfigurationModeInterval: string | null;
    defaultReportCompliance: boolean | null;
  };
  LcmDefaultsChange: {
    defaultConfigurationMode?: 'Monitor' | 'Remediate' | null | undefined;
    defaultConfigurationModeInterval?: string | null | undefined;
    defaultReportCompliance?: boolean | null | undefined;
  };
  LcmStatusChange: {
    lcmStatus: 'Unknown' | 'Idle' | 'Downloading' | 'Testing' | 'Remediating' | 'Error';
  };
  Login: {
    username: string;
    password: string;
  };
  Manifest: {
    checksum: string;
    configurationName: string;
    isComposite: boolean;
    version: string;
    tag: Schemas['VersionTag'];
    entryPoint: string;
    bundleDigest: string | null;
    parts: Schemas['ManifestPart'][];
    firstServedAt: string | null;
  };
  ManifestPart: {
    configurationName: string;
    version: string;
    tag: Schemas['VersionTag'];
    parameters: ({
      scopeTypeName: string;
      scopeValue: string | null;
      version: string;
      tagObjectId: string;
      checksum: string;
    })[];
  };
  NewComposite: {
    name: string;
    description?: string | null | undefined;
    entryPoint?: string | null | undefined;
  };
  NewCompositeChild: {
    childConfigurationName: string;
    activeVersion?: string | null | undefined;
    majorVersion?: number | null | undefined;
    order?: number | null | undefined;
  };
  NewCompositeVersion: {
    version: string;
    prereleaseChannel?: string | null | undefined;
    message?: string | null | undefined;
    isDraft?: boolean | null | undefined;
  };
  NewExpectedNode: {
    fqdn: string;
    assignment?: Schemas['NodeAssignment'] | null | undefined;
    scopeValueIds?: string[] | null | undefined;
    lcmConfig?: Schemas['LcmConfigChange'] | null | undefined;
  };
  NewExternalMapping: {
    provider: string;
    externalGroupId: string;
    externalGroupName?: string | null | undefined;
    groupId: string;
  };
  NewFederation: {
    issuer: string;
    claims: Record<string, string | number | boolean>;
    scopes: string[];
    lifetimeMinutes?: number | undefined;
  };
  NewFreeze: {
    reason: string;
    until: string;
  };
  NewGrant: {
    principalType: 'User' | 'Group';
    principalId: string;
    level: 'Read' | 'Modify' | 'Manage';
  };
  NewJoinLine: {
    key: string;
    shell: 'sh' | 'powershell';
    agent: 'hawser' | 'opendsc';
  };
  NewJoiningRules: ({
    fqdnPattern: string;
    assignment?: Schemas['NodeAssignment'] | null | undefined;
    scopeValueIds?: string[] | null | undefined;
  })[];
  NewNodeTag: {
    scopeValueId: string;
  };
  NewParameterFile: {
    version: string;
    scopeValue?: string | null | undefined;
    content?: string | null | undefined;
    contentType?: string | null | undefined;
    isPassthrough?: boolean | null | undefined;
    message?: string | null | undefined;
    isDraft?: boolean | null | undefined;
  };
  NewPreview: {
    changes: ({
      kind: 'PublishConfiguration';
      configurationName: string;
      version: string;
    } | {
      kind: 'PublishComposite';
      compositeName: string;
      version: string;
    } | {
      kind: 'PublishParameters';
      configurationName: string;
      scopeTypeName: string;
      scopeValue?: string | null | undefined;
      version: string;
    } | {
      kind: 'SetParameters';
      configurationName: string;
      scopeTypeName: string;
      scopeValue?: string | null | undefined;
      version: string;
      content: string;
      contentType?: string | null | undefined;
    } | {
      kind: 'Assign';
      nodeIds: string[];
      configurationName: string;
      isComposite?: boolean | null | undefined;
      majorVersion?: number | null | undefined;
      prereleaseChannel?: string | null | undefined;
      version?: string | null | undefined;
    } | {
      kind: 'Unassign';
      nodeIds: string[];
    } | {
      kind: 'Tag';
      nodeIds: string[];
      scopeValueId: string;
    } | {
      kind: 'Untag';
      nodeIds: string[];
      scopeValueId: string;
    } | {
      kind: 'SetTags';
      nodeIds: string[];
      scopeValueIds: string[];
    } | {
      kind: 'Withdraw';
      configurationName?: string | null | undefined;
      compositeName?: string | null | undefined;
      version: string;
      reason?: string | null | undefined;
    } | {
      kind: 'Restore';
      configurationName?: string | null | undefined;
      compositeName?: string | null | undefined;
      version: string;
    } | {
      kind: 'ReorderScopeTypes';
      scopeTypeIds: string[];
    } | {
      kind: 'EnableScopeType';
      scopeTypeId: string;
    } | {
      kind: 'DisableScopeType';
      scopeTypeId: string;
    } | {
      kind: 'SetLcmConfig';
      nodeIds: string[];
      configurationMode?: 'Monitor' | 'Remediate' | null | undefined;
      configurationModeInterval?: string | null | undefined;
      reportCompliance?: boolean | null | undefined;
    })[];
    nodeIds?: string[] | null | undefined;
  };
  NewRegistrationKey: {
    description?: string | null | undefined;
    expiresAt?: string | null | undefined;
    maxUses?: number | null | undefined;
    allowReregistration?: boolean | null | undefined;
    profile?: {
      assignment?: Schemas['NodeAssignment'] | null | undefined;
      scopeValueIds?: string[] | null | undefined;
      fqdnPattern?: string | null | undefined;
    } | null | undefined;
  };
  NewReport: {
    operation: 'Get' | 'Set' | 'Test' | 'Export';
    result: {
      results?: unknown[] | null | undefined;
      hadErrors: boolean;
    };
    configurationChecksum?: string | null | undefined;
  };
  NewRollout: {
    version: string;
    steps: ({
      ring: string | null;
      percent?: number | null | undefined;
      gate: {
        minNodes?: number | null | undefined;
        successShare?: number | null | undefined;
        maxRegressions?: number | null | undefined;
        maxSilent?: number | null | undefined;
        maxAbsent?: number | null | undefined;
        bakeTime?: string | null | undefined;
        deadline?: string | null | undefined;
        approval?: boolean | null | undefined;
      };
    })[];
    onHalt: 'Keep' | 'Revert';
    message?: string | null | undefined;
  };
  NewScopeType: {
    name: string;
    description?: string | null | undefined;
    valueMode?: 'Unrestricted' | 'Restricted' | null | undefined;
  };
  NewScopeValue: {
    value: string;
    description?: string | null | undefined;
  };
  NewToken: {
    name: string;
    scopes: ('server.settings.read' | 'server.settings.write' | 'users.manage' | 'groups.manage' | 'roles.manage' | 'registration-keys.manage' | 'nodes.read' | 'nodes.write' | 'nodes.delete' | 'nodes.assign-configuration' | 'reports.read' | 'reports.read-all' | 'retention.manage' | 'configurations.create' | 'configurations.admin-override' | 'composite-configurations.create' | 'composite-configurations.admin-override' | 'parameters.admin-override' | 'scopes.admin-override' | 'audit.read' | 'rollouts.manage' | 'webhooks.manage' | 'configurations.grants' | 'composite-configurations.grants' | 'parameters.grants')[];
    expiresAt?: string | null | undefined;
  };
  NewUser: {
    username: string;
    email: string;
    password?: string | null | undefined;
    accountType?: 'User' | 'ServiceAccount' | null | undefined;
    requirePasswordChange?: boolean | null | undefined;
  };
  NewWebhook: {
    url: string;
    events: string[];
    secret: string;
    isActive?: boolean | null | undefined;
  };
  NewWithdrawal: {
    reason?: string | null | undefined;
  };
  NodeAssignment: {
    configurationName: string;
    isComposite?: boolean | null | undefined;
    majorVersion?: number | null | undefined;
    prereleaseChannel?: string | null | undefined;
    version?: string | null | undefined;
  };
  NodeDetails: {
    id: string;
    fqdn: string;
    configurationName: string | null;
    status: 'Unknown' | 'Compliant' | 'NonCompliant' | 'Error';
    lcmStatus: 'Unknown' | 'Idle' | 'Downloading' | 'Testing' | 'Remediating' | 'Error';
    isStale: boolean;
    lastCheckIn: string | null;
    createdAt: string;
    configurationSource: 'Local' | 'Pull' | null;
    configurationMode: 'Monitor' | 'Remediate' | null;
    configurationModeInterval: string | null;
    reportCompliance: boolean | null;
    desiredConfigurationMode: 'Monitor' | 'Remediate' | null;
    desiredConfigurationModeInterval: string | null;
    desiredReportCompliance: boolean | null;
    statusSince: string;
    statusReason: string | null;
    offeredVersion: string | null;
    running: {
      checksum: string;
      configurationName: string | null;
      version: string | null;
      evidence: 'Told' | 'Served' | 'Declared';
      since: string;
    } | null;
    parameterProblems: number;
    certificate: {
      thumbprint: string | null;
      awaiting: string | null;
      subject: string;
      notBefore: string | null;
      notAfter: string;
      pendingThumbprint: string | null;
    } | null;
    assignment: {
      configurationName: string;
      isComposite: boolean;
      majorVersion: number | null;
      prereleaseChannel: string | null;
      version: string | null;
      resolvedVersion: string | null;
      pinnedToWithdrawn: boolean;
    } | null;
    tags: Schemas['NodeTag'][];
    statusCause: Schemas['StatusCause'] | null;
    lastReport: Schemas['ReportSummary'] | null;
  };
  NodeRegistration: {
    registrationKey: string;
    fqdn: string;
    configurationSource?: 'Local' | 'Pull' | null | undefined;
    configurationMode?: 'Monitor' | 'Remediate' | null | undefined;
    configurationModeInterval?: string | null | undefined;
    reportCompliance?: boolean | null | undefined;
    csr?: string | null | undefined;
  };
  NodeSummary: {
    id: string;
    fqdn: string;
    configurationName: string | null;
    status: 'Unknown' | 'Compliant' | 'NonCompliant' | 'Error';
    lcmStatus: 'Unknown' | 'Idle' | 'Downloading' | 'Testing' | 'Remediating' | 'Error';
    isStale: boolean;
    lastCheckIn: string | null;
    createdAt: string;
    configurationSource: 'Local' | 'Pull' | null;
    configurationMode: 'Monitor' | 'Remediate' | null;
    configurationModeInterval: string | null;
    reportCompliance: boolean | null;
    desiredConfigurationMode: 'Monitor' | 'Remediate' | null;
    desiredConfigurationModeInterval: string | null;
    desiredReportCompliance: boolean | null;
    statusSince: string;
    statusReason: string | null;
    offeredVersion: string | null;
    running: {
      version: string | null;
      evidence: 'Told' | 'Served' | 'Declared';
      configurationName: string | null;
      isComposite: boolean | null;
    } | null;
    parameterProblems: number | null;
  };
  NodeTag: {
    nodeId: string;
    scopeValueId: string;
    scopeTypeId: string;
    scopeTypeName: string;
    scopeValue: string;
    precedence: number;
    assignedAt: string;
  };
  NodeTags: {
    scopeValueIds: string[];
  };
  OfferedNodes: {
    offered: number;
    direct: number;
    viaComposites: number;
    pinned: number;
  };
  ParameterFile: {
    id: string;
    scopeTypeId: string;
    scopeTypeName: string;
    configurationId: string;
    scopeValue: string | null;
    version: string;
    majorVersion: number | null;
    checksum: string;
    contentType: 'application/yaml' | 'application/json' | null;
    status: 'Draft' | 'Published';
    isPassthrough: boolean;
    needsMigration: boolean;
    createdAt: string;
    createdBy: string;
    publishedAt: string | null;
    publishedBy: string | null;
    message: string | null;
  };
  ParameterFileWithContent: {
    id: string;
    scopeTypeId: string;
    scopeTypeName: string;
    configurationId: string;
    scopeValue: string | null;
    version: string;
    majorVersion: number | null;
    checksum: string;
    contentType: 'application/yaml' | 'application/json' | null;
    status: 'Draft' | 'Published';
    isPassthrough: boolean;
    needsMigration: boolean;
    createdAt: string;
    createdBy: string;
    publishedAt: string | null;
    publishedBy: string | null;
    message: string | null;
    content: string | null;
  };
  ParameterMajor: {
    majorVersion: number | null;
    versionCount: number;
    hasActive: boolean;
    latestVersion: string;
    hasMigrationNeeded: boolean;
  };
  ParameterProvenance: {
    nodeId: string;
    configurationId: string;
    configurationVersion: string;
    prereleaseChannel: string | null;
    problems: Schemas['FieldError'][];
    mergedParameters: string;
    provenance: Record<string, {
      scopeTypeName: string;
      scopeValue: string | null;
      precedence: number;
      resolvedVersion: string;
      isPrerelease: boolean;
      version: string;
      commit: string;
      author: string;
      committedAt: string;
      value: unknown;
      overriddenValues: ({
        scopeTypeName: string;
        scopeValue: string | null;
        precedence: number;
        value: unknown;
      })[];
    }>;
  };
  ParameterResolution: {
    nodeId: string;
    configurationId: string;
    configurationVersion: string;
    prereleaseChannel: string | null;
    problems: Schemas['FieldError'][];
    scopes: ({
      scopeTypeName: string;
      scopeValue: string | null;
      precedence: number;
      resolvedVersion: string | null;
      isPrerelease: boolean;
      isPassthrough: boolean;
      isFallback: boolean;
      noPublishedVersion: boolean;
    })[];
  };
  ParameterSchema: Record<string, unknown>;
  ParameterVerdict: {
    isValid: boolean;
    errors: Schemas['FieldError'][];
  };
  PasswordChange: {
    currentPassword: string;
    newPassword: string;
  };
  PasswordReset: {
    newPassword: string;
  };
  Permission: {
    name: 'server.settings.read' | 'server.settings.write' | 'users.manage' | 'groups.manage' | 'roles.manage' | 'registration-keys.manage' | 'nodes.read' | 'nodes.write' | 'nodes.delete' | 'nodes.assign-configuration' | 'reports.read' | 'reports.read-all' | 'retention.manage' | 'configurations.create' | 'configurations.admin-override' | 'composite-configurations.create' | 'composite-configurations.admin-override' | 'parameters.admin-override' | 'scopes.admin-override' | 'audit.read' | 'rollouts.manage' | 'webhooks.manage';
    description: string;
  };
  Preview: {
    id: string;
    state: 'Running' | 'Done' | 'Failed';
    createdAt: string;
    completedAt: string | null;
    expiresAt: string;
    changes: ({
      kind: 'PublishConfiguration';
      configurationName: string;
      version: string;
    } | {
      kind: 'PublishComposite';
      compositeName: string;
      version: string;
    } | {
      kind: 'PublishParameters';
      configurationName: string;
      scopeTypeName: string;
      scopeValue: string | null;
      version: string;
    } | {
      kind: 'SetParameters';
      configurationName: string;
      scopeTypeName: string;
      scopeValue: string | null;
      version: string;
      content: null;
      contentType: string | null;
    } | {
      kind: 'Assign';
      nodeIds: string[];
      configurationName: string;
      isComposite: boolean | null;
      majorVersion: number | null;
      prereleaseChannel: string | null;
      version: string | null;
    } | {
      kind: 'Unassign';
      nodeIds: string[];
    } | {
      kind: 'Tag';
      nodeIds: string[];
      scopeValueId: string;
    } | {
      kind: 'Untag';
      nodeIds: string[];
      scopeValueId: string;
    } | {
      kind: 'SetTags';
      nodeIds: string[];
      scopeValueIds: string[];
    } | {
      kind: 'Withdraw';
      configurationName: string | null;
      compositeName: string | null;
      version: string;
      reason: string | null;
    } | {
      kind: 'Restore';
      configurationName: string | null;
      compositeName: string | null;
      version: string;
    } | {
      kind: 'ReorderScopeTypes';
      scopeTypeIds: string[];
    } | {
      kind: 'EnableScopeType';
      scopeTypeId: string;
    } | {
      kind: 'DisableScopeType';
      scopeTypeId: string;
    } | {
      kind: 'SetLcmConfig';
      nodeIds: string[];
      configurationMode: string | null;
      configurationModeInterval: string | null;
      reportCompliance: boolean | null;
    })[];
    counts: {
      nodes: number;
      changed: number;
      unchanged: number;
      unresolvable: number;
      notVisible: number;
    };
    groupCount: number | null;
    findings: ({
      configurationName: string | null;
      compositeName: string | null;
      version: string;
      findings: Schemas['Finding'][];
    })[];
    warnings: {
      code: string;
      message: string;
      path: string;
    }[];
    error: string | null;
  };
  PreviewGroup: {
    id: string;
    nodeCount: number;
    sampleNodes: {
      nodeId: string;
      fqdn: string;
    }[];
    change: 'Changed' | 'Unresolvable' | 'Unchanged';
    before: {
      configurationName: string;
      version: string;
      checksum: string;
    } | null;
    after: {
      configurationName: string;
      version: string;
      checksum: string;
    } | null;
    files: {
      added: number;
      removed: number;
      modified: number;
      renamed: number;
    };
    parameterChanges: number;
    newProblems: Schemas['FieldError'][];
  };
  PreviewGroupDetails: {
    id: string;
    nodeCount: number;
    sampleNodes: {
      nodeId: string;
      fqdn: string;
    }[];
    change: 'Changed' | 'Unresolvable' | 'Unchanged';
    before: {
      configurationName: string;
      version: string;
      checksum: string;
    } | null;
    after: {
      configurationName: string;
      version: string;
      checksum: string;
    } | null;
    files: {
      added: number;
      removed: number;
      modified: number;
      renamed: number;
    };
    parameterChanges: number;
    newProblems: Schemas['FieldError'][];
    code: string | null;
    message: string | null;
    fileChanges: Schemas['FileChange'][];
    parameters: ({
      path: string;
      before: unknown;
      after: unknown;
      beforeSource: {
        scopeTypeName: string;
        scopeValue: string | null;
        version: string;
      } | null;
      afterSource: {
        scopeTypeName: string;
        scopeValue: string | null;
        version: string;
      } | null;
    })[];
    mergedParameters: {
      before: string | null;
      after: string | null;
    } | null;
  };
  PreviewNode: {
    nodeId: string;
    fqdn: string;
    groupId: string | null;
    change: 'Changed' | 'Unchanged' | 'Unresolvable';
  };
  Problem: {
    type: string;
    title: string;
    status: number;
    detail: string;
    code: string;
    errors?: (Schemas['Finding'] | Schemas['FieldError'])[] | undefined;
    compatibilityReport?: Record<string, unknown> | undefined;
    nodes?: number | undefined;
    reason?: string | undefined;
    until?: string | undefined;
    frozenBy?: string | undefined;
    error?: 'invalid_grant' | undefined;
    missing?: {
      permission: string;
      by: 'User' | 'Token';
    } | undefined;
  };
  ProofNode: {
    nodeId: string;
    fqdn: string;
    via: string | null;
    isPinned: boolean;
    evidence: 'Told' | 'Served' | 'Declared' | null;
    checksum: string | null;
    since: string | null;
    reason: 'NeverPolled' | 'NotPolledSince' | 'NotDownloaded' | 'NotReported' | 'RunsOther' | 'Unresolvable' | null;
    outcome: 'Failed' | 'Applied' | 'Untested' | null;
  };
  PublicSettings: {
    certificateRotationInterval: string;
  };
  PublishCheck: {
    canPublish: boolean;
    blockers: ({
      code: string;
      message: string;
      errors: (Schemas['Finding'] | Schemas['FieldError'])[];
    })[];
    compatibility: Schemas['CompatibilityReport'] | null;
    findings: Schemas['Finding'][];
    comparedWith: string | null;
  };
  PublishedCompositeVersion: {
    id: string;
    version: string;
    status: 'Draft' | 'Published';
    prereleaseChannel: string | null;
    items: Schemas['CompositeItem'][];
    findings: Schemas['Finding'][] | null;
    createdAt: string;
    createdBy: string;
    author: {
      name: string;
      email: string;
    } | null;
    publishedAt: string | null;
    publishedBy: string | null;
    commit: string;
    message: string | null;
    signature: 'OpenPgp' | 'Ssh' | 'X509' | null;
    withdrawn: {
      at: string;
      by: string;
      reason: string;
    } | null;
    rollout: {
      state: 'Running' | 'Paused' | 'Halted' | 'Completed' | 'Superseded';
      step: number;
      steps: number;
    } | null;
    nodes: Schemas['OfferedNodes'] | null;
  };
  PublishedConfigurationVersion: {
    version: string;
    status: 'Draft' | 'Published';
    entryPoint: string;
    prereleaseChannel: string | null;
    fileCount: number;
    findings: Schemas['Finding'][] | null;
    createdAt: string;
    createdBy: string;
    author: {
      name: string;
      email: string;
    } | null;
    publishedAt: string | null;
    publishedBy: string | null;
    commit: string;
    message: string | null;
    signature: 'OpenPgp' | 'Ssh' | 'X509' | null;
    withdrawn: {
      at: string;
      by: string;
      reason: string;
    } | null;
    rollout: {
      state: 'Running' | 'Paused' | 'Halted' | 'Completed' | 'Superseded';
      step: number;
      steps: number;
    } | null;
    nodes: Schemas['OfferedNodes'] | null;
    affectedParameterFiles: Schemas['AffectedParameterFile'][] | null;
  };
  Publishing: {
    message?: string | null | undefined;
  };
  Readiness: {
    status: 'Ready' | 'Unready';
    timestamp: string;
    checks: {
      database: string;
      repositories: string;
    };
    frozenUntil: string | null;
  };
  RecordCleanup: {
    keepCount?: number | null | undefined;
    keepDays?: number | null | undefined;
    dryRun?: boolean | null | undefined;
  };
  RegisteredNode: {
    nodeId: string;
    certificate?: string | undefined;
    caCertificate?: string | undefined;
  };
  RegistrationKey: {
    id: string;
    key: string | null;
    joinCommand?: string | undefined;
    keyPrefix: string;
    description: string | null;
    expiresAt: string;
    createdAt: string;
    maxUses: number | null;
    currentUses: number;
    isRevoked: boolean;
    allowReregistration: boolean;
    profile: {
      assignment: {
        configurationName: string;
        isComposite: boolean;
        majorVersion: number | null;
        prereleaseChannel: string | null;
        version: string | null;
      } | null;
      scopeValueIds: string[];
      fqdnPattern: string | null;
    } | null;
    lastUsedAt: string | null;
    nodes: number;
  };
  RegistrationKeyChange: {
    description?: string | null | undefined;
  };
  Report: {
    id: string;
    nodeId: string;
    nodeFqdn: string;
    timestamp: string;
    operation: 'Get' | 'Set' | 'Test' | 'Export';
    inDesiredState: boolean | null;
    hadErrors: boolean;
    configurationChecksum: string | null;
    checksumSource: 'Declared' | 'Served' | null;
    configurationName: string | null;
    version: string | null;
    outOfState: number | null;
    firstFault: Schemas['StatusCause'] | null;
    result: {
      hadErrors: boolean;
    };
  };
  ReportBucket: {
    from: string;
    to: string;
    compliant: number;
    nonCompliant: number;
    unknown: number;
    errors: number;
  };
  ReportSummary: {
    id: string;
    nodeId: string;
    nodeFqdn: string;
    timestamp: string;
    operation: 'Get' | 'Set' | 'Test' | 'Export';
    inDesiredState: boolean | null;
    hadErrors: boolean;
    configurationChecksum: string | null;
    checksumSource: 'Declared' | 'Served' | null;
    configurationName: string | null;
    version: string | null;
    outOfState: number | null;
    firstFault: Schemas['StatusCause'] | null;
  };
  ReportedLcmConfig: {
    configurationMode?: 'Monitor' | 'Remediate' | null | undefined;
    configurationModeInterval?: string | null | undefined;
    reportCompliance?: boolean | null | undefined;
  };
  RetentionResult: {
    runId: string;
    versionType: 'Configuration' | 'Composite' | 'Parameter' | 'Report' | 'StatusEvent';
    isDryRun: boolean;
    deletedCount: number;
    keptCount: number;
    deletedVersions: {
      name: string;
      version: string;
      createdAt: string;
      reason: string;
    }[] | null;
  };
  RetentionRun: {
    id: string;
    startedAt: string;
    completedAt: string | null;
    versionType: 'Configuration' | 'Composite' | 'Parameter' | 'Report' | 'StatusEvent';
    isScheduled: boolean;
    isDryRun: boolean;
    deletedCount: number;
    keptCount: number;
    error: string | null;
  };
  RetentionSettings: {
    enabled: boolean;
    keepVersions: number;
    keepDays: number;
    keepReleaseVersions: boolean;
    scheduleIntervalHours: number;
    reportKeepCount: number;
    reportKeepDays: number;
    statusEventKeepCount: number;
    statusEventKeepDays: number;
  };
  RetentionSettingsChange: {
    enabled?: boolean | null | undefined;
    keepVersions?: number | null | undefined;
    keepDays?: number | null | undefined;
    keepReleaseVersions?: boolean | null | undefined;
    scheduleIntervalHours?: number | null | undefined;
    reportKeepCount?: number | null | undefined;
    reportKeepDays?: number | null | undefined;
    statusEventKeepCount?: number | null | undefined;
    statusEventKeepDays?: number | null | undefined;
  };
  Role: {
    id: string;
    name: string;
    description: string | null;
    permissions: ('server.settings.read' | 'server.settings.write' | 'users.manage' | 'groups.manage' | 'roles.manage' | 'registration-keys.manage' | 'nodes.read' | 'nodes.write' | 'nodes.delete' | 'nodes.assign-configuration' | 'reports.read' | 'reports.read-all' | 'retention.manage' | 'configurations.create' | 'configurations.admin-override' | 'composite-configurations.create' | 'composite-configurations.admin-override' | 'parameters.admin-override' | 'scopes.admin-override' | 'audit.read' | 'rollouts.manage' | 'webhooks.manage')[];
    isSystemRole: boolean;
    createdAt: string;
    modifiedAt: string;
  };
  RoleContent: {
    name: string;
    description?: string | null | undefined;
    permissions: ('server.settings.read' | 'server.settings.write' | 'users.manage' | 'groups.manage' | 'roles.manage' | 'registration-keys.manage' | 'nodes.read' | 'nodes.write' | 'nodes.delete' | 'nodes.assign-configuration' | 'reports.read' | 'reports.read-all' | 'retention.manage' | 'configurations.create' | 'configurations.admin-override' | 'composite-configurations.create' | 'composite-configurations.admin-override' | 'parameters.admin-override' | 'scopes.admin-override' | 'audit.read' | 'rollouts.manage' | 'webhooks.manage')[];
  };
  Rollout: {
    configurationName: string;
    isComposite: boolean;
    version: string;
    state: 'Running' | 'Paused' | 'Halted' | 'Completed' | 'Superseded';
    step: number;
    steps: ({
      ring: string | null;
      percent: number;
      gate: {
        minNodes: number;
        successShare: number;
        maxRegressions: number;
        maxSilent: number | null;
        maxAbsent: number | null;
        bakeTime: string;
        deadline: string;
        approval: boolean;
      };
      state: 'Waiting' | 'Open' | 'Done';
      counts: {
        offered: number;
        taken: number;
        success: number;
        regression: number;
        alreadyBad: number;
        silent: number;
        absent: number;
      };
      startedAt: string | null;
      endedAt: string | null;
    })[];
    onHalt: 'Keep' | 'Revert';
    createdBy: string;
    createdAt: string;
    cause: {
      reason: 'Regressions' | 'Deadline' | 'Person' | 'Withdrawn' | 'Superseded';
      summary: string;
      nodes: ({
        nodeId: string;
        fqdn: string;
        before: 'Unknown' | 'Compliant' | 'NonCompliant' | 'Error' | null;
        after: 'Unknown' | 'Compliant' | 'NonCompliant' | 'Error' | null;
        message: string | null;
      })[];
    } | null;
    frozenUntil: string | null;
    history: ({
      at: string;
      actorName: string;
      from: 'Running' | 'Paused' | 'Halted' | 'Completed' | 'Superseded' | null;
      to: 'Running' | 'Paused' | 'Halted' | 'Completed' | 'Superseded';
      reason: string;
      counts: {
        offered: number;
        taken: number;
        success: number;
        regression: number;
        alreadyBad: number;
        silent: number;
        absent: number;
      };
    })[];
  };
  RolloutDeed: {
    reason: string;
    expectedState: 'Running' | 'Paused' | 'Halted' | 'Completed' | 'Superseded';
  };
  RolloutNode: {
    nodeId: string;
    fqdn: string;
    step: number;
    outcome: 'Success' | 'Regression' | 'AlreadyBad' | 'Silent' | 'Absent' | 'NotTaken';
    before: 'Unknown' | 'Compliant' | 'NonCompliant' | 'Error' | null;
    after: 'Unknown' | 'Compliant' | 'NonCompliant' | 'Error' | null;
    message: string | null;
  };
  RolloutRing: {
    ring: string | null;
    nodes: number;
  };
  RolloutSettings: {
    rolloutScopeType: string | null;
  };
  RolloutSettingsChange: {
    rolloutScopeType?: string | null | undefined;
  };
  ScopeType: {
    id: string;
    name: string;
    description: string | null;
    precedence: number;
    isSystem: boolean;
    isEnabled: boolean;
    valueMode: 'Unrestricted' | 'Restricted';
    createdAt: string;
    updatedAt: string;
  };
  ScopeTypeChange: {
    name?: string | null | undefined;
    description?: string | null | undefined;
  };
  ScopeTypeOrder: {
    scopeTypeIds: string[];
  };
  ScopeValue: {
    id: string;
    scopeTypeId: string;
    value: string;
    description: string | null;
    order: number;
    createdAt: string;
    updatedAt: string;
  };
  ScopeValueChange: {
    value?: string | null | undefined;
    description?: string | null | undefined;
  };
  ScopeValueOrder: {
    scopeValueIds: string[];
  };
  SearchHit: {
    kind: 'Node' | 'Configuration' | 'Composite' | 'User' | 'Group' | 'ScopeValue';
    id: string;
    name: string;
    detail: string | null;
  };
  ServerSettings: {
    certificateRotationInterval: string;
    stalenessMultiplier: number;
  };
  ServerSettingsChange: {
    certificateRotationInterval?: string | null | undefined;
    stalenessMultiplier?: number | null | undefined;
    acceptNodes?: number | null | undefined;
  };
  SessionsEnded: Record<string, unknown>;
  SignedIn: {
    userId: string;
    username: string;
    email: string;
    requirePasswordChange: boolean;
  };
  StatusCause: {
    kind: 'Report' | 'LcmStatus' | 'Silence' | 'Problem';
    at: string;
    reportId: string | null;
    resource: {
      type: string;
      name: string;
    } | null;
    message: string | null;
  };
  StatusEvent: {
    id: number;
    nodeId: string;
    lcmStatus: 'Unknown' | 'Idle' | 'Downloading' | 'Testing' | 'Remediating' | 'Error' | null;
    status: 'Unknown' | 'Compliant' | 'NonCompliant' | 'Error' | null;
    timestamp: string;
  };
  TimelineEntry: {
    id: string;
    at: string;
    kind: 'Status' | 'LcmStatus' | 'Assignment' | 'Tag' | 'Settings' | 'Certificate' | 'Offered' | 'Running' | 'Report';
    actorName: string | null;
    summary: string;
    details: Record<string, unknown>;
    link: string | null;
  };
  Token: {
    id: string;
    name: string;
    tokenPrefix: string;
    scopes: string[];
    expiresAt: string | null;
    lastUsedAt: string | null;
    isRevoked: boolean;
    createdAt: string;
  };
  UploadedConfigurationVersion: {
    version: string;
    status: 'Draft' | 'Published';
    entryPoint: string;
    prereleaseChannel: string | null;
    fileCount: number;
    findings: Schemas['Finding'][] | null;
    createdAt: string;
    createdBy: string;
    author: {
      name: string;
      email: string;
    } | null;
    publishedAt: string | null;
    publishedBy: string | null;
    commit: string;
    message: string | null;
    signature: 'OpenPgp' | 'Ssh' | 'X509' | null;
    withdrawn: {
      at: string;
      by: string;
      reason: string;
    } | null;
    rollout: {
      state: 'Running' | 'Paused' | 'Halted' | 'Completed' | 'Superseded';
      step: number;
      steps: number;
    } | null;
    ignoredFiles: string[];
  };
  UploadedParameterSchema: {
    version: string;
    schema: Schemas['ParameterSchema'];
  };
  User: {
    id: string;
    username: string;
    email: string;
    accountType: 'User' | 'ServiceAccount';
    isActive: boolean;
    requirePasswordChange: boolean;
    lockoutEnd: string | null;
    createdAt: string;
    modifiedAt: string;
  };
  UserChange: {
    username: string;
    email: string;
    isActive: boolean;
  };
  UserDetails: {
    id: string;
    username: string;
    email: string;
    accountType: 'User' | 'ServiceAccount';
    isActive: boolean;
    requirePasswordChange: boolean;
    lockoutEnd: string | null;
    createdAt: string;
    modifiedAt: string;
    accessFailedCount: number;
    roles: Schemas['UserRole'][];
    groups: Schemas['UserGroup'][];
  };
  UserGroup: {
    id: string;
    name: string;
    description: string | null;
    createdAt: string;
    modifiedAt: string;
  };
  UserRole: {
    id: string;
    name: string;
    isSystemRole: boolean;
  };
  UserRoleIds: {
    roleIds: string[];
  };
  ValidationSettings: {
    requireSemVer: boolean;
    defaultParameterValidationMode: 'None' | 'Warn' | 'Strict';
    defaultDocumentChecks: 'None' | 'Warn' | 'Strict';
    allowConfigurationOverride: boolean;
    allowParameterValidationOverride: boolean;
    pushIdentity: 'Any' | 'Committer';
  };
  ValidationSettingsChange: {
    requireSemVer?: boolean | null | undefined;
    defaultParameterValidationMode?: 'None' | 'Warn' | 'Strict' | null | undefined;
    defaultDocumentChecks?: 'None' | 'Warn' | 'Strict' | null | undefined;
    allowConfigurationOverride?: boolean | null | undefined;
    allowParameterValidationOverride?: boolean | null | undefined;
    pushIdentity?: 'Any' | 'Committer' | null | undefined;
  };
  VersionCleanup: {
    keepVersions?: number | null | undefined;
    keepDays?: number | null | undefined;
    keepReleaseVersions?: boolean | null | undefined;
    dryRun?: boolean | null | undefined;
  };
  VersionProof: {
    configurationName: string;
    version: string;
    tag: Schemas['VersionTag'];
    nodes: {
      offered: number;
      direct: number;
      viaComposites: number;
      pinned: number;
      declared: number;
      served: number;
      told: number;
      others: number;
      failed: number;
      applied: number;
      untested: number;
    };
    reasons: ({
      reason: 'NeverPolled' | 'NotPolledSince' | 'NotDownloaded' | 'NotReported' | 'RunsOther' | 'Unresolvable';
      nodes: number;
    })[];
  };
  VersionTag: {
    objectId: string;
    commit: string;
    tagger: string;
    taggedAt: string;
  };
  VersionUse: {
    version: string;
    offered: number;
    direct: number;
    viaComposites: number;
    pinned: number;
    declared: number;
    served: number;
    told: number;
  };
  Webhook: {
    id: string;
    url: string;
    events: string[];
    isActive: boolean;
    createdAt: string;
    modifiedAt: string;
  };
  WebhookChange: {
    url: string;
    events: string[];
    isActive?: boolean | null | undefined;
    secret?: string | null | undefined;
  };
  WebhookDelivery: {
    id: string;
    eventId: string;
    type: string;
    subject: string;
    state: 'Pending' | 'Delivered' | 'Failed';
    attempts: number;
    createdAt: string;
    lastAttemptAt: string | null;
    nextAttemptAt: string | null;
    lastStatus: number | null;
    lastError: string | null;
  };
  WithdrawalEffect: {
    nodes: number;
    direct: number;
    viaComposites: number;
    wouldGet: ({
      version: string | null;
      nodes: number;
    })[];
    pinned: number;
    pinnedNodes: {
      nodeId: string;
      fqdn: string;
    }[];
    pinnedBy: {
      compositeName: string;
      version: string;
    }[];
  };
}

/** Every route below /api/v1, and what is given to it and comes from it. */
export interface Routes {
  '/api/v1/activity': {
    /** List what has happened to the things that the caller may read, newest first. */
    get: {
      query?: {
        take?: number | undefined;
        before?: string | undefined;
      } | undefined;
      answer: Schemas['ActivityEntry'][];
    };
  };
  '/api/v1/admin/registration-keys': {
    /** List registration keys, newest first. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['RegistrationKey'][];
    };
    /** Create a registration key. */
    post: {
      json: Schemas['NewRegistrationKey'];
      answer: Schemas['RegistrationKey'];
    };
  };
  '/api/v1/admin/registration-keys/{keyId}': {
    /** Change a key's description. */
    put: {
      path: {
        keyId: string;
      };
      json: Schemas['RegistrationKeyChange'];
      answer: Schemas['RegistrationKey'];
    };
    /** Revoke a key. */
    delete: {
      path: {
        keyId: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/admin/registration-keys/{keyId}/join-line': {
    /** Make the line that joins a machine. */
    post: {
      path: {
        keyId: string;
      };
      json: Schemas['NewJoinLine'];
      answer: Schemas['JoinLine'];
    };
  };
  '/api/v1/audit': {
    /** List entries of the audit trail, newest first, or what follows an entry. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        from?: string | undefined;
        to?: string | undefined;
        action?: string | undefined;
        actor?: string | undefined;
        resource?: string | undefined;
        resourceType?: string | undefined;
        resourceId?: string | undefined;
        userId?: string | undefined;
        after?: '0' | string | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['AuditEntry'][];
    };
  };
  '/api/v1/auth/change-password': {
    /** Change the own password. */
    post: {
      json: Schemas['PasswordChange'];
      answer: undefined;
    };
  };
  '/api/v1/auth/login': {
    /** Sign in with user name and password. */
    post: {
      json: Schemas['Login'];
      answer: Schemas['SignedIn'];
    };
  };
  '/api/v1/auth/logout': {
    /** Sign out. */
    post: {
      answer: undefined;
    };
  };
  '/api/v1/auth/logout-redirect': {
    /** Sign out and go to the sign-in page. */
    get: {
      answer: undefined;
    };
  };
  '/api/v1/auth/me': {
    /** Who the caller is and what the caller may do. */
    get: {
      answer: Schemas['CurrentUser'];
    };
  };
  '/api/v1/auth/providers': {
    /** List the identity providers by which people sign in. */
    get: {
      answer: Schemas['IdentityProvider'][];
    };
  };
  '/api/v1/auth/token-exchange': {
    /** Exchange the token of a job for one of a service account. */
    post: {
      bytes: BytesOf<'application/x-www-form-urlencoded'>;
      answer: Schemas['ExchangedToken'];
    };
  };
  '/api/v1/auth/tokens': {
    /** List the caller's tokens, newest first. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Token'][];
    };
    /** Create a personal access token. */
    post: {
      json: Schemas['NewToken'];
      answer: Schemas['CreatedToken'];
    };
  };
  '/api/v1/auth/tokens/{id}': {
    /** Revoke one of the caller's tokens. */
    delete: {
      path: {
        id: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/ca.pem': {
    /** Download the certificate of the built-in authority. */
    get: {
      answer: Uint8Array;
    };
  };
  '/api/v1/composite-configurations': {
    /** List the composite configurations that the caller may read, by name. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Composite'][];
    };
    /** Create a composite configuration. */
    post: {
      json: Schemas['NewComposite'];
      answer: Schemas['Composite'];
    };
  };
  '/api/v1/composite-configurations/{name}': {
    /** Read a composite configuration with its versions. */
    get: {
      path: {
        name: string;
      };
      answer: Schemas['CompositeDetails'];
    };
    /** Delete a composite configuration with all its versions. */
    delete: {
      path: {
        name: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/composite-configurations/{name}/compare': {
    /** Compare the children of two versions, drafts too, in either order. */
    get: {
      path: {
        name: string;
      };
      query: {
        from?: string | undefined;
        to: string;
      };
      answer: Schemas['CompositeComparison'];
    };
  };
  '/api/v1/composite-configurations/{name}/permissions': {
    /** List the grants on a composite configuration. */
    get: {
      path: {
        name: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Grant'][];
    };
    /** Grant a user or group a level on a composite configuration. */
    put: {
      path: {
        name: string;
      };
      json: Schemas['NewGrant'];
      answer: undefined;
    };
  };
  '/api/v1/composite-configurations/{name}/permissions/{principalType}/{principalId}': {
    /** Revoke a grant on a composite configuration. */
    delete: {
      path: {
        name: string;
        principalType: 'User' | 'Group';
        principalId: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/composite-configurations/{name}/rollouts': {
    /** List rollouts, the newest first. */
    get: {
      path: {
        name: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        state?: 'Running' | 'Paused' | 'Halted' | 'Completed' | 'Superseded' | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Rollout'][];
    };
    /** Roll a version out, ring by ring. */
    post: {
      path: {
        name: string;
      };
      json: Schemas['NewRollout'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/composite-configurations/{name}/rollouts/{version}': {
    /** Read the rollout of a version with its history. */
    get: {
      path: {
        name: string;
        version: string;
      };
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/composite-configurations/{name}/rollouts/{version}/approve': {
    /** Approve the open step, for a gate that asks for it; not by the one who published the version. */
    post: {
      path: {
        name: string;
        version: string;
      };
      json: Schemas['RolloutDeed'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/composite-configurations/{name}/rollouts/{version}/complete': {
    /** End the rollout: all nodes get the version. */
    post: {
      path: {
        name: string;
        version: string;
      };
      json: Schemas['RolloutDeed'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/composite-configurations/{name}/rollouts/{version}/halt': {
    /** End the rollout: nobody new gets the version, and its holders keep it unless `onHalt` is Revert. */
    post: {
      path: {
        name: string;
        version: string;
      };
      json: Schemas['RolloutDeed'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/composite-configurations/{name}/rollouts/{version}/nodes': {
    /** The nodes of the steps that are open or done, by fqdn, each with what it made of the version. */
    get: {
      path: {
        name: string;
        version: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        step?: number | undefined;
        outcome?: 'Success' | 'Regression' | 'AlreadyBad' | 'Silent' | 'Absent' | 'NotTaken' | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['RolloutNode'][];
    };
  };
  '/api/v1/composite-configurations/{name}/rollouts/{version}/pause': {
    /** Open no further step until the rollout is resumed. */
    post: {
      path: {
        name: string;
        version: string;
      };
      json: Schemas['RolloutDeed'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/composite-configurations/{name}/rollouts/{version}/resume': {
    /** Go on with a rollout that is paused; bake time and deadline begin anew. */
    post: {
      path: {
        name: string;
        version: string;
      };
      json: Schemas['RolloutDeed'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/composite-configurations/{name}/rollouts/{version}/revert': {
    /** End the rollout, and give those who have the version what they had. */
    post: {
      path: {
        name: string;
        version: string;
      };
      json: Schemas['RolloutDeed'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/composite-configurations/{name}/versions': {
    /** List versions, highest first. */
    get: {
      path: {
        name: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['CompositeVersion'][];
    };
    /** Create an empty draft version. */
    post: {
      path: {
        name: string;
      };
      json: Schemas['NewCompositeVersion'];
      answer: Schemas['CompositeVersion'];
    };
  };
  '/api/v1/composite-configurations/{name}/versions/{version}': {
    /** Read a version with its children. */
    get: {
      path: {
        name: string;
        version: string;
      };
      answer: Schemas['CompositeVersion'];
    };
    /** Delete a draft. */
    delete: {
      path: {
        name: string;
        version: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/composite-configurations/{name}/versions/{version}/children': {
    /** Add a child to a draft. */
    post: {
      path: {
        name: string;
        version: string;
      };
      json: Schemas['NewCompositeChild'];
      answer: Schemas['CompositeItem'];
    };
  };
  '/api/v1/composite-configurations/{name}/versions/{version}/children/{childId}': {
    /** Change a child's version or order. */
    put: {
      path: {
        name: string;
        version: string;
        childId: string;
      };
      json: Schemas['CompositeChildChange'];
      answer: Schemas['CompositeItem'];
    };
    /** Take a child out of a draft. */
    delete: {
      path: {
        name: string;
        version: string;
        childId: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/composite-configurations/{name}/versions/{version}/proof': {
    /** How many nodes run exactly this version, and why the others do not. */
    get: {
      path: {
        name: string;
        version: string;
      };
      answer: Schemas['VersionProof'];
    };
  };
  '/api/v1/composite-configurations/{name}/versions/{version}/proof/nodes': {
    /** The nodes that are offered this version, by fqdn, and what is known of each. */
    get: {
      path: {
        name: string;
        version: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        evidence?: 'Told' | 'Served' | 'Declared' | undefined;
        reason?: 'NeverPolled' | 'NotPolledSince' | 'NotDownloaded' | 'NotReported' | 'RunsOther' | 'Unresolvable' | undefined;
        outcome?: 'Failed' | 'Applied' | 'Untested' | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['ProofNode'][];
    };
  };
  '/api/v1/composite-configurations/{name}/versions/{version}/publish': {
    /** Publish a draft; nodes get it at their next poll. */
    put: {
      path: {
        name: string;
        version: string;
      };
      json?: Schemas['Publishing'] | undefined;
      answer: Schemas['PublishedCompositeVersion'];
    };
  };
  '/api/v1/composite-configurations/{name}/versions/{version}/publish-check': {
    /** See what publishing a draft would answer. */
    get: {
      path: {
        name: string;
        version: string;
      };
      answer: Schemas['PublishCheck'];
    };
  };
  '/api/v1/composite-configurations/{name}/versions/{version}/rings': {
    /** How many nodes of each ring a rollout of this version would reach. */
    get: {
      path: {
        name: string;
        version: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['RolloutRing'][];
    };
  };
  '/api/v1/composite-configurations/{name}/versions/{version}/withdraw': {
    /** Withdraw a published version; nodes get the next that fits at their next poll. */
    put: {
      path: {
        name: string;
        version: string;
      };
      query?: {
        dryRun?: boolean | undefined;
      } | undefined;
      json?: Schemas['NewWithdrawal'] | undefined;
      answer: Schemas['CompositeWithdrawal'];
    };
    /** Offer a withdrawn version again. */
    delete: {
      path: {
        name: string;
        version: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/configurations': {
    /** List the configurations that the caller may read, by name. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Configuration'][];
    };
    /** Create a configuration with its first draft. */
    post: {
      form: FormOf<{
        name: string;
        description?: string | undefined;
        useServerManagedParameters?: boolean | undefined;
        version?: string | undefined;
        entryPoint?: string | undefined;
        prereleaseChannel?: string | undefined;
        message?: string | undefined;
        isDraft?: boolean | undefined;
      }, 'files' | 'archive'>;
      answer: Schemas['CreatedConfiguration'];
    };
  };
  '/api/v1/configurations/{name}': {
    /** Read a configuration. */
    get: {
      path: {
        name: string;
      };
      answer: Schemas['Configuration'];
    };
    /** Change description or server-managed parameters. */
    patch: {
      path: {
        name: string;
      };
      json: Schemas['ConfigurationChange'];
      answer: Schemas['Configuration'];
    };
    /** Delete a configuration with all its versions and parameters. */
    delete: {
      path: {
        name: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/configurations/{name}/check': {
    /** See what is found in a document, or in the files of a version. */
    post: {
      path: {
        name: string;
      };
      form?: FormOf<{
        version?: string | undefined;
        entryPoint?: string | undefined;
        prereleaseChannel?: string | undefined;
        message?: string | undefined;
        isDraft?: boolean | undefined;
      }, 'files' | 'archive'> | undefined;
      bytes?: BytesOf<string> | undefined;
      answer: Schemas['DocumentCheck'];
    };
  };
  '/api/v1/configurations/{name}/compare': {
    /** Compare two versions, drafts too, in either order. */
    get: {
      path: {
        name: string;
      };
      query: {
        from?: string | undefined;
        to: string;
      };
      answer: Schemas['Comparison'];
    };
  };
  '/api/v1/configurations/{name}/compare/files/{filePath}': {
    /** Compare one file of two versions line by line. */
    get: {
      path: {
        name: string;
        filePath: string;
      };
      query: {
        from?: string | undefined;
        to: string;
        context?: number | undefined;
      };
      answer: Schemas['FileDiff'];
    };
  };
  '/api/v1/configurations/{name}/parameter-files': {
    /** List the parameter files of all scopes of a configuration. */
    get: {
      path: {
        name: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        scopeTypeName?: string | undefined;
        scopeValue?: string | undefined;
        status?: 'Draft' | 'Published' | undefined;
        ofDeletedNode?: boolean | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['ParameterFile'][];
    };
  };
  '/api/v1/configurations/{name}/parameters': {
    /** Read the JSON Schema of the parameter documents of a version. */
    get: {
      path: {
        name: string;
      };
      query?: {
        version?: string | undefined;
        optional?: boolean | undefined;
      } | undefined;
      answer: Schemas['ParameterSchema'] | undefined;
    };
    /** Upload the schema of a version. */
    put: {
      path: {
        name: string;
      };
      form: FormOf<{
        version: string;
      }, 'parametersFile'>;
      answer: Schemas['UploadedParameterSchema'];
    };
  };
  '/api/v1/configurations/{name}/parameters/parameter-files': {
    /** Upload a parameter file as a draft, or publish it at once. */
    post: {
      path: {
        name: string;
      };
      form: FormOf<{
        scopeTypeName: string;
        version: string;
        scopeValue?: string | undefined;
        publish?: boolean | undefined;
        message?: string | undefined;
        isDraft?: boolean | undefined;
      }, 'parametersFile'>;
      answer: Schemas['ParameterFile'];
    };
  };
  '/api/v1/configurations/{name}/parameters/permissions': {
    /** List the grants on a configuration's parameters. */
    get: {
      path: {
        name: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Grant'][];
    };
    /** Grant a user or group a level on a configuration's parameters. */
    put: {
      path: {
        name: string;
      };
      json: Schemas['NewGrant'];
      answer: undefined;
    };
  };
  '/api/v1/configurations/{name}/parameters/permissions/{principalType}/{principalId}': {
    /** Revoke a grant on a configuration's parameters. */
    delete: {
      path: {
        name: string;
        principalType: 'User' | 'Group';
        principalId: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/configurations/{name}/parameters/validate': {
    /** Check a parameter document; nothing is kept. */
    post: {
      path: {
        name: string;
      };
      query?: {
        version?: string | undefined;
        partial?: boolean | undefined;
        anyText?: boolean | undefined;
      } | undefined;
      json?: unknown | undefined;
      bytes?: BytesOf<'application/yaml' | 'application/x-yaml' | 'text/yaml' | 'text/x-yaml'> | undefined;
      answer: Schemas['ParameterVerdict'];
    };
  };
  '/api/v1/configurations/{name}/permissions': {
    /** List the grants on a configuration. */
    get: {
      path: {
        name: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Grant'][];
    };
    /** Grant a user or group a level on a configuration. */
    put: {
      path: {
        name: string;
      };
      json: Schemas['NewGrant'];
      answer: undefined;
    };
  };
  '/api/v1/configurations/{name}/permissions/{principalType}/{principalId}': {
    /** Revoke a grant on a configuration. */
    delete: {
      path: {
        name: string;
        principalType: 'User' | 'Group';
        principalId: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/configurations/{name}/rollouts': {
    /** List rollouts, the newest first. */
    get: {
      path: {
        name: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        state?: 'Running' | 'Paused' | 'Halted' | 'Completed' | 'Superseded' | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Rollout'][];
    };
    /** Roll a version out, ring by ring. */
    post: {
      path: {
        name: string;
      };
      json: Schemas['NewRollout'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/configurations/{name}/rollouts/{version}': {
    /** Read the rollout of a version with its history. */
    get: {
      path: {
        name: string;
        version: string;
      };
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/configurations/{name}/rollouts/{version}/approve': {
    /** Approve the open step, for a gate that asks for it; not by the one who published the version. */
    post: {
      path: {
        name: string;
        version: string;
      };
      json: Schemas['RolloutDeed'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/configurations/{name}/rollouts/{version}/complete': {
    /** End the rollout: all nodes get the version. */
    post: {
      path: {
        name: string;
        version: string;
      };
      json: Schemas['RolloutDeed'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/configurations/{name}/rollouts/{version}/halt': {
    /** End the rollout: nobody new gets the version, and its holders keep it unless `onHalt` is Revert. */
    post: {
      path: {
        name: string;
        version: string;
      };
      json: Schemas['RolloutDeed'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/configurations/{name}/rollouts/{version}/nodes': {
    /** The nodes of the steps that are open or done, by fqdn, each with what it made of the version. */
    get: {
      path: {
        name: string;
        version: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        step?: number | undefined;
        outcome?: 'Success' | 'Regression' | 'AlreadyBad' | 'Silent' | 'Absent' | 'NotTaken' | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['RolloutNode'][];
    };
  };
  '/api/v1/configurations/{name}/rollouts/{version}/pause': {
    /** Open no further step until the rollout is resumed. */
    post: {
      path: {
        name: string;
        version: string;
      };
      json: Schemas['RolloutDeed'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/configurations/{name}/rollouts/{version}/resume': {
    /** Go on with a rollout that is paused; bake time and deadline begin anew. */
    post: {
      path: {
        name: string;
        version: string;
      };
      json: Schemas['RolloutDeed'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/configurations/{name}/rollouts/{version}/revert': {
    /** End the rollout, and give those who have the version what they had. */
    post: {
      path: {
        name: string;
        version: string;
      };
      json: Schemas['RolloutDeed'];
      answer: Schemas['Rollout'];
    };
  };
  '/api/v1/configurations/{name}/settings': {
    /** Read how versions and parameters of the configuration are checked. */
    get: {
      path: {
        name: string;
      };
      answer: Schemas['ConfigurationSettings'];
    };
    /** Change how versions and parameters of the configuration are checked; any subset. */
    put: {
      path: {
        name: string;
      };
      json: Schemas['ConfigurationSettingsChange'];
      answer: Schemas['ConfigurationSettings'];
    };
    /** Go back to what is inherited for how versions and parameters of the configuration are checked. */
    delete: {
      path: {
        name: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/configurations/{name}/settings/retention': {
    /** Read the configuration's own retention. */
    get: {
      path: {
        name: string;
      };
      answer: Schemas['ConfigurationRetention'];
    };
    /** Change the configuration's own retention; any subset. */
    put: {
      path: {
        name: string;
      };
      json: Schemas['ConfigurationRetentionChange'];
      answer: Schemas['ConfigurationRetention'];
    };
    /** Go back to what is inherited for the configuration's own retention. */
    delete: {
      path: {
        name: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/configurations/{name}/versions': {
    /** List versions, highest first. */
    get: {
      path: {
        name: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['ConfigurationVersion'][];
    };
    /** Create a draft version. */
    post: {
      path: {
        name: string;
      };
      json?: Schemas['CopiedConfigurationVersion'] | undefined;
      form?: FormOf<{
        version?: string | undefined;
        entryPoint?: string | undefined;
        prereleaseChannel?: string | undefined;
        message?: string | undefined;
        isDraft?: boolean | undefined;
      }, 'files' | 'archive'> | undefined;
      answer: Schemas['UploadedConfigurationVersion'];
    };
  };
  '/api/v1/configurations/{name}/versions/{version}': {
    /** Read a version with its files. */
    get: {
      path: {
        name: string;
        version: string;
      };
      answer: Schemas['ConfigurationVersionDetails'];
    };
    /** Replace a draft's files. */
    put: {
      path: {
        name: string;
        version: string;
      };
      form: FormOf<{
        version?: string | undefined;
        entryPoint?: string | undefined;
        prereleaseChannel?: string | undefined;
        message?: string | undefined;
        isDraft?: boolean | undefined;
      }, 'files' | 'archive'>;
      answer: Schemas['UploadedConfigurationVersion'];
    };
    /** Delete a draft. */
    delete: {
      path: {
        name: string;
        version: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/configurations/{name}/versions/{version}/archive': {
    /** Download a version's files as a ZIP. */
    get: {
      path: {
        name: string;
        version: string;
      };
      answer: Uint8Array;
    };
  };
  '/api/v1/configurations/{name}/versions/{version}/blame/{filePath}': {
    /** Tell of each line of a file who wrote it, and in which version. */
    get: {
      path: {
        name: string;
        version: string;
        filePath: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['BlamedLines'][];
    };
  };
  '/api/v1/configurations/{name}/versions/{version}/files/{filePath}': {
    /** Download a file of a version. */
    get: {
      path: {
        name: string;
        version: string;
        filePath: string;
      };
      answer: Uint8Array;
    };
    /** Save a file of a draft. */
    put: {
      path: {
        name: string;
        version: string;
        filePath: string;
      };
      bytes?: BytesOf<string> | undefined;
      answer: Schemas['ConfigurationVersion'];
    };
    /** Delete a file of a draft. */
    delete: {
      path: {
        name: string;
        version: string;
        filePath: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/configurations/{name}/versions/{version}/proof': {
    /** How many nodes run exactly this version, and why the others do not. */
    get: {
      path: {
        name: string;
        version: string;
      };
      answer: Schemas['VersionProof'];
    };
  };
  '/api/v1/configurations/{name}/versions/{version}/proof/nodes': {
    /** The nodes that are offered this version, by fqdn, and what is known of each. */
    get: {
      path: {
        name: string;
        version: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        evidence?: 'Told' | 'Served' | 'Declared' | undefined;
        reason?: 'NeverPolled' | 'NotPolledSince' | 'NotDownloaded' | 'NotReported' | 'RunsOther' | 'Unresolvable' | undefined;
        outcome?: 'Failed' | 'Applied' | 'Untested' | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['ProofNode'][];
    };
  };
  '/api/v1/configurations/{name}/versions/{version}/publish': {
    /** Publish a draft; nodes get it at their next poll. */
    put: {
      path: {
        name: string;
        version: string;
      };
      json?: Schemas['Publishing'] | undefined;
      answer: Schemas['PublishedConfigurationVersion'];
    };
  };
  '/api/v1/configurations/{name}/versions/{version}/publish-check': {
    /** See what publishing a draft would answer. */
    get: {
      path: {
        name: string;
        version: string;
      };
      answer: Schemas['PublishCheck'];
    };
  };
  '/api/v1/configurations/{name}/versions/{version}/rings': {
    /** How many nodes of each ring a rollout of this version would reach. */
    get: {
      path: {
        name: string;
        version: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['RolloutRing'][];
    };
  };
  '/api/v1/configurations/{name}/versions/{version}/withdraw': {
    /** Withdraw a published version; nodes get the next that fits at their next poll. */
    put: {
      path: {
        name: string;
        version: string;
      };
      query?: {
        dryRun?: boolean | undefined;
      } | undefined;
      json?: Schemas['NewWithdrawal'] | undefined;
      answer: Schemas['ConfigurationWithdrawal'];
    };
    /** Offer a withdrawn version again. */
    delete: {
      path: {
        name: string;
        version: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/events': {
    /** Read the feed of events, and wait for the next. */
    get: {
      query?: {
        after?: string | undefined;
        wait?: number | undefined;
      } | undefined;
      answer: Schemas['CloudEvent'][];
    };
  };
  '/api/v1/fleet/configurations/{name}/history': {
    /** Count the nodes that are offered a configuration over time. */
    get: {
      path: {
        name: string;
      };
      query: {
        isComposite?: boolean | undefined;
        from: string;
        to: string;
        bucket: string;
      };
      answer: Schemas['ConfigurationHistory'];
    };
  };
  '/api/v1/fleet/configurations/{name}/versions': {
    /** The published versions, highest first, and how many nodes are offered and run each. */
    get: {
      path: {
        name: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        isComposite?: boolean | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['VersionUse'][];
    };
  };
  '/api/v1/fleet/history': {
    /** Count the nodes by status over time, and list what happened meanwhile. */
    get: {
      query: {
        from: string;
        to: string;
        bucket: string;
      };
      answer: Schemas['FleetHistory'];
    };
  };
  '/api/v1/fleet/reports': {
    /** Count the reports of all nodes over time, oldest first. */
    get: {
      query: {
        take?: number | undefined;
        skip?: number | undefined;
        from: string;
        to: string;
        bucket: string;
      };
      isPaged: true;
      answer: Schemas['ReportBucket'][];
    };
  };
  '/api/v1/fleet/summary': {
    /** Count all nodes by what they are and what is assigned to them. */
    get: {
      answer: Schemas['FleetSummary'];
    };
  };
  '/api/v1/groups': {
    /** List the groups by name. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Group'][];
    };
    /** Create a group without members and roles. */
    post: {
      json: Schemas['GroupContent'];
      answer: Schemas['GroupDetails'];
    };
  };
  '/api/v1/groups/external-mappings': {
    /** List the external mappings, by provider and external id. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['ExternalMapping'][];
    };
    /** Map a group of an identity provider to a group here. */
    post: {
      json: Schemas['NewExternalMapping'];
      answer: Schemas['ExternalMapping'];
    };
  };
  '/api/v1/groups/external-mappings/{id}': {
    /** Delete an external mapping. */
    delete: {
      path: {
        id: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/groups/{id}': {
    /** Read a group with its members and roles. */
    get: {
      path: {
        id: string;
      };
      answer: Schemas['GroupDetails'];
    };
    /** Replace a group's name and description. */
    put: {
      path: {
        id: string;
      };
      json: Schemas['GroupContent'];
      answer: Schemas['GroupDetails'];
    };
    /** Delete a group with its grants and external mappings. */
    delete: {
      path: {
        id: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/groups/{id}/members': {
    /** List a group's members by user name. */
    get: {
      path: {
        id: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['GroupMember'][];
    };
    /** Make these users the members of a group, and no others. */
    put: {
      path: {
        id: string;
      };
      json: Schemas['GroupMemberIds'];
      answer: Schemas['GroupMember'][];
    };
  };
  '/api/v1/groups/{id}/roles': {
    /** List the roles that a group holds, by name. */
    get: {
      path: {
        id: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['GroupRole'][];
    };
    /** Let a group hold these roles, and no others. */
    put: {
      path: {
        id: string;
      };
      json: Schemas['GroupRoleIds'];
      answer: Schemas['GroupRole'][];
    };
  };
  '/api/v1/manifests/{checksum}': {
    /** Read what a checksum stands for: the tags and parameter files that it was made of. */
    get: {
      path: {
        checksum: string;
      };
      answer: Schemas['Manifest'];
    };
  };
  '/api/v1/nodes': {
    /** List nodes, by name or as `sort` says. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        fqdn?: string | undefined;
        status?: 'Unknown' | 'Compliant' | 'NonCompliant' | 'Error' | undefined;
        lcmStatus?: 'Unknown' | 'Idle' | 'Downloading' | 'Testing' | 'Remediating' | 'Error' | undefined;
        configurationName?: string | undefined;
        stale?: boolean | undefined;
        scopeValueId?: string[] | undefined;
        withoutScopeTypeId?: string | undefined;
        unassigned?: boolean | undefined;
        version?: string | undefined;
        evidence?: 'Told' | 'Served' | 'Declared' | undefined;
        certificateExpiring?: boolean | undefined;
        awaiting?: boolean | undefined;
        registrationKeyId?: string | undefined;
        hasParameterProblems?: boolean | undefined;
        sort?: 'fqdn' | 'lastCheckIn' | 'createdAt' | 'status' | '-fqdn' | '-lastCheckIn' | '-createdAt' | '-status' | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['NodeSummary'][];
    };
    /** Make a node that awaits its machine. */
    post: {
      json: Schemas['NewExpectedNode'];
      answer: Schemas['NodeDetails'];
    };
  };
  '/api/v1/nodes/bulk': {
    /** Do one thing to many nodes. */
    post: {
      json?: Schemas['BulkDeed'] | undefined;
      bytes?: BytesOf<'text/csv'> | undefined;
      answer: Schemas['BulkResult'];
    };
  };
  '/api/v1/nodes/register': {
    /** Register a node with a key and a client certificate, or with a key and a CSR. */
    post: {
      json: Schemas['NodeRegistration'];
      answer: Schemas['RegisteredNode'];
    };
  };
  '/api/v1/nodes/{nodeId}': {
    /** Read a node. */
    get: {
      path: {
        nodeId: string;
      };
      answer: Schemas['NodeDetails'];
    };
    /** Delete a node with its reports, events, tags and assignment. */
    delete: {
      path: {
        nodeId: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/nodes/{nodeId}/configuration': {
    /** Read the entry-point document of what the node gets. */
    get: {
      path: {
        nodeId: string;
      };
      answer: Uint8Array;
    };
    /** Assign a configuration to a node. */
    put: {
      path: {
        nodeId: string;
      };
      json: Schemas['NodeAssignment'];
      answer: undefined;
    };
    /** Take the configuration from a node. */
    delete: {
      path: {
        nodeId: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/nodes/{nodeId}/configuration/bundle': {
    /** Download what the node gets as a ZIP. */
    get: {
      path: {
        nodeId: string;
      };
      answer: Uint8Array;
    };
  };
  '/api/v1/nodes/{nodeId}/configuration/checksum': {
    /** Poll the checksum of what the node gets. */
    get: {
      path: {
        nodeId: string;
      };
      answer: Schemas['ConfigurationChecksum'];
    };
  };
  '/api/v1/nodes/{nodeId}/lcm-config': {
    /** Read what the LCM of a node is to do. */
    get: {
      path: {
        nodeId: string;
      };
      answer: Schemas['LcmConfig'];
    };
    /** Set what the LCM of a node is to do. */
    put: {
      path: {
        nodeId: string;
      };
      json: Schemas['LcmConfigChange'];
      answer: Schemas['LcmConfig'];
    };
  };
  '/api/v1/nodes/{nodeId}/lcm-status': {
    /** Say what the LCM of the node is doing. */
    put: {
      path: {
        nodeId: string;
      };
      json: Schemas['LcmStatusChange'];
      answer: undefined;
    };
  };
  '/api/v1/nodes/{nodeId}/parameters/provenance': {
    /** Who set each value of the parameters that a node gets. */
    get: {
      path: {
        nodeId: string;
      };
      query?: {
        configurationId?: string | undefined;
      } | undefined;
      answer: Schemas['ParameterProvenance'];
    };
  };
  '/api/v1/nodes/{nodeId}/parameters/resolution': {
    /** Which parameter file each scope gives a node. */
    get: {
      path: {
        nodeId: string;
      };
      query?: {
        configurationId?: string | undefined;
      } | undefined;
      answer: Schemas['ParameterResolution'];
    };
  };
  '/api/v1/nodes/{nodeId}/reported-config': {
    /** Say what the LCM of the node is set to do. */
    put: {
      path: {
        nodeId: string;
      };
      json: Schemas['ReportedLcmConfig'];
      answer: undefined;
    };
  };
  '/api/v1/nodes/{nodeId}/reports': {
    /** List a node's reports, newest first. */
    get: {
      path: {
        nodeId: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        from?: string | undefined;
        to?: string | undefined;
        operation?: 'Get' | 'Set' | 'Test' | 'Export' | undefined;
        inDesiredState?: 'true' | 'false' | 'null' | undefined;
        hadErrors?: boolean | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['ReportSummary'][];
    };
    /** Report the result of a run of DSC. */
    post: {
      path: {
        nodeId: string;
      };
      json: Schemas['NewReport'];
      answer: Schemas['ReportSummary'];
    };
  };
  '/api/v1/nodes/{nodeId}/rotate-certificate': {
    /** Announce the certificate that the node will come with next. */
    post: {
      path: {
        nodeId: string;
      };
      json: Schemas['CertificateAnnouncement'];
      answer: Schemas['AnnouncedCertificate'];
    };
  };
  '/api/v1/nodes/{nodeId}/status-history': {
    /** List what a node has done and how compliant it was, newest first. */
    get: {
      path: {
        nodeId: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        from?: string | undefined;
        to?: string | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['StatusEvent'][];
    };
  };
  '/api/v1/nodes/{nodeId}/tags': {
    /** List a node's tags by precedence. */
    get: {
      path: {
        nodeId: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['NodeTag'][];
    };
    /** Tag a node with a scope value. */
    post: {
      path: {
        nodeId: string;
      };
      json: Schemas['NewNodeTag'];
      answer: Schemas['NodeTag'];
    };
    /** Give a node exactly these tags, in one step. */
    put: {
      path: {
        nodeId: string;
      };
      json: Schemas['NodeTags'];
      answer: Schemas['NodeTag'][];
    };
  };
  '/api/v1/nodes/{nodeId}/tags/{scopeValueId}': {
    /** Take a tag from a node. */
    delete: {
      path: {
        nodeId: string;
        scopeValueId: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/nodes/{nodeId}/timeline': {
    /** List what happened to a node, newest first. */
    get: {
      path: {
        nodeId: string;
      };
      query?: {
        take?: number | undefined;
        before?: string | undefined;
        kinds?: string | undefined;
      } | undefined;
      answer: Schemas['TimelineEntry'][];
    };
  };
  '/api/v1/parameters/{scopeTypeId}/{configurationId}': {
    /** Make a draft of a parameter file, or give one other content. */
    put: {
      path: {
        scopeTypeId: string;
        configurationId: string;
      };
      json: Schemas['NewParameterFile'];
      answer: Schemas['ParameterFile'];
    };
  };
  '/api/v1/parameters/{scopeTypeId}/{configurationId}/compare': {
    /** Compare two versions of a scope's file line by line. */
    get: {
      path: {
        scopeTypeId: string;
        configurationId: string;
      };
      query: {
        from?: string | undefined;
        to: string;
        scopeValue?: string | undefined;
        context?: number | undefined;
      };
      answer: Schemas['FileDiff'];
    };
  };
  '/api/v1/parameters/{scopeTypeId}/{configurationId}/majors': {
    /** List the major versions of a scope's file, highest first. */
    get: {
      path: {
        scopeTypeId: string;
        configurationId: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        scopeValue?: string | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['ParameterMajor'][];
    };
  };
  '/api/v1/parameters/{scopeTypeId}/{configurationId}/majors/{major}': {
    /** Read the active file of a major version. */
    get: {
      path: {
        scopeTypeId: string;
        configurationId: string;
        major: number;
      };
      query?: {
        scopeValue?: string | undefined;
      } | undefined;
      answer: Schemas['ParameterFileWithContent'];
    };
  };
  '/api/v1/parameters/{scopeTypeId}/{configurationId}/versions': {
    /** List the versions of a scope's file, highest first. */
    get: {
      path: {
        scopeTypeId: string;
        configurationId: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        scopeValue?: string | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['ParameterFile'][];
    };
  };
  '/api/v1/parameters/{scopeTypeId}/{configurationId}/versions/{version}': {
    /** Read a version of a scope's file, a draft too. */
    get: {
      path: {
        scopeTypeId: string;
        configurationId: string;
        version: string;
      };
      query?: {
        scopeValue?: string | undefined;
      } | undefined;
      answer: Schemas['ParameterFileWithContent'];
    };
    /** Delete a draft. */
    delete: {
      path: {
        scopeTypeId: string;
        configurationId: string;
        version: string;
      };
      query?: {
        scopeValue?: string | undefined;
      } | undefined;
      answer: undefined;
    };
  };
  '/api/v1/parameters/{scopeTypeId}/{configurationId}/versions/{version}/blame': {
    /** Tell of each line of a scope's file who wrote it, and in which version. */
    get: {
      path: {
        scopeTypeId: string;
        configurationId: string;
        version: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        scopeValue?: string | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['BlamedLines'][];
    };
  };
  '/api/v1/parameters/{scopeTypeId}/{configurationId}/versions/{version}/publish': {
    /** Publish a draft; nodes get it at their next poll. */
    put: {
      path: {
        scopeTypeId: string;
        configurationId: string;
        version: string;
      };
      query?: {
        scopeValue?: string | undefined;
      } | undefined;
      json?: Schemas['Publishing'] | undefined;
      answer: Schemas['ParameterFile'];
    };
  };
  '/api/v1/permissions': {
    /** List every permission. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Permission'][];
    };
  };
  '/api/v1/previews': {
    /** See what some changes would do, without making them. */
    post: {
      json: Schemas['NewPreview'];
      answer: Schemas['Preview'];
    };
  };
  '/api/v1/previews/{id}': {
    /** Read how far a preview is, and how many nodes it concerns. */
    get: {
      path: {
        id: string;
      };
      answer: Schemas['Preview'];
    };
  };
  '/api/v1/previews/{id}/groups': {
    /** List the groups of nodes that change alike, the largest first. */
    get: {
      path: {
        id: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['PreviewGroup'][];
    };
  };
  '/api/v1/previews/{id}/groups/{groupId}': {
    /** Read what changes for a group of nodes. */
    get: {
      path: {
        id: string;
        groupId: string;
      };
      answer: Schemas['PreviewGroupDetails'];
    };
  };
  '/api/v1/previews/{id}/groups/{groupId}/files/{filePath}': {
    /** Compare one file of the two bundles of a group line by line. */
    get: {
      path: {
        id: string;
        groupId: string;
        filePath: string;
      };
      query?: {
        context?: number | undefined;
      } | undefined;
      answer: Schemas['FileDiff'];
    };
  };
  '/api/v1/previews/{id}/nodes': {
    /** List the nodes that the caller may see, by name, and whether they change. */
    get: {
      path: {
        id: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        change?: 'Changed' | 'Unchanged' | 'Unresolvable' | undefined;
        groupId?: string | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['PreviewNode'][];
    };
  };
  '/api/v1/reports': {
    /** List the reports of all nodes, newest first. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        from?: string | undefined;
        to?: string | undefined;
        operation?: 'Get' | 'Set' | 'Test' | 'Export' | undefined;
        inDesiredState?: 'true' | 'false' | 'null' | undefined;
        hadErrors?: boolean | undefined;
        nodeId?: string | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['ReportSummary'][];
    };
  };
  '/api/v1/reports/{id}': {
    /** Read a report with its result. */
    get: {
      path: {
        id: string;
      };
      answer: Schemas['Report'];
    };
  };
  '/api/v1/retention/composite-configurations/cleanup': {
    /** Delete old published versions of composites. */
    post: {
      json: Schemas['VersionCleanup'];
      answer: Schemas['RetentionResult'];
    };
  };
  '/api/v1/retention/configurations/cleanup': {
    /** Delete old published versions of configurations. */
    post: {
      json: Schemas['VersionCleanup'];
      answer: Schemas['RetentionResult'];
    };
  };
  '/api/v1/retention/parameters/cleanup': {
    /** Delete old parameter files, drafts and published ones. */
    post: {
      json: Schemas['VersionCleanup'];
      answer: Schemas['RetentionResult'];
    };
  };
  '/api/v1/retention/reports/cleanup': {
    /** Delete old reports. */
    post: {
      json: Schemas['RecordCleanup'];
      answer: Schemas['RetentionResult'];
    };
  };
  '/api/v1/retention/runs': {
    /** List cleanups that ran, newest first. */
    get: {
      query?: {
        limit?: number | undefined;
        take?: number | undefined;
        skip?: number | undefined;
        from?: string | undefined;
        to?: string | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['RetentionRun'][];
    };
  };
  '/api/v1/retention/status-events/cleanup': {
    /** Delete old status events. */
    post: {
      json: Schemas['RecordCleanup'];
      answer: Schemas['RetentionResult'];
    };
  };
  '/api/v1/roles': {
    /** List the roles by name. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Role'][];
    };
    /** Create a role of permissions that are the caller's own. */
    post: {
      json: Schemas['RoleContent'];
      answer: Schemas['Role'];
    };
  };
  '/api/v1/roles/{id}': {
    /** Read a role. */
    get: {
      path: {
        id: string;
      };
      answer: Schemas['Role'];
    };
    /** Replace a role's name, description and permissions. */
    put: {
      path: {
        id: string;
      };
      json: Schemas['RoleContent'];
      answer: Schemas['Role'];
    };
    /** Delete a role; all who hold it lose it. */
    delete: {
      path: {
        id: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/rollouts': {
    /** List the rollouts of all that the caller may read, the newest first. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        state?: 'Running' | 'Paused' | 'Halted' | 'Completed' | 'Superseded' | undefined;
        configurationName?: string | undefined;
        isComposite?: boolean | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Rollout'][];
    };
  };
  '/api/v1/scope-types': {
    /** List scope types by precedence. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['ScopeType'][];
    };
    /** Create a scope type just below Node. */
    post: {
      json: Schemas['NewScopeType'];
      answer: Schemas['ScopeType'];
    };
  };
  '/api/v1/scope-types/reorder': {
    /** Put all scope types into a new order. */
    put: {
      json: Schemas['ScopeTypeOrder'];
      answer: Schemas['ScopeType'][];
    };
  };
  '/api/v1/scope-types/{id}': {
    /** Read a scope type. */
    get: {
      path: {
        id: string;
      };
      answer: Schemas['ScopeType'];
    };
    /** Change a scope type's name and description. */
    put: {
      path: {
        id: string;
      };
      json: Schemas['ScopeTypeChange'];
      answer: Schemas['ScopeType'];
    };
    /** Delete a scope type and its values. */
    delete: {
      path: {
        id: string;
      };
      query?: {
        withParameters?: boolean | undefined;
      } | undefined;
      answer: undefined;
    };
  };
  '/api/v1/scope-types/{id}/disable': {
    /** Keep a system scope type out of merging. */
    patch: {
      path: {
        id: string;
      };
      answer: Schemas['ScopeType'];
    };
  };
  '/api/v1/scope-types/{id}/enable': {
    /** Let a system scope type take part. */
    patch: {
      path: {
        id: string;
      };
      answer: Schemas['ScopeType'];
    };
  };
  '/api/v1/scope-types/{scopeTypeId}/values': {
    /** List a scope type's values. */
    get: {
      path: {
        scopeTypeId: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['ScopeValue'][];
    };
    /** Create a scope value. */
    post: {
      path: {
        scopeTypeId: string;
      };
      json: Schemas['NewScopeValue'];
      answer: Schemas['ScopeValue'];
    };
  };
  '/api/v1/scope-types/{scopeTypeId}/values/reorder': {
    /** Put all values of a scope type into a new order. */
    put: {
      path: {
        scopeTypeId: string;
      };
      json: Schemas['ScopeValueOrder'];
      answer: Schemas['ScopeValue'][];
    };
  };
  '/api/v1/scope-types/{scopeTypeId}/values/{id}': {
    /** Read a scope value. */
    get: {
      path: {
        scopeTypeId: string;
        id: string;
      };
      answer: Schemas['ScopeValue'];
    };
    /** Change a scope value's text and description. */
    put: {
      path: {
        scopeTypeId: string;
        id: string;
      };
      json: Schemas['ScopeValueChange'];
      answer: Schemas['ScopeValue'];
    };
    /** Delete a scope value. */
    delete: {
      path: {
        scopeTypeId: string;
        id: string;
      };
      query?: {
        withParameters?: boolean | undefined;
      } | undefined;
      answer: undefined;
    };
  };
  '/api/v1/search': {
    /** Find nodes, configurations, composites, users, groups and scope values by name. */
    get: {
      query: {
        q: string;
      };
      answer: Schemas['SearchHit'][];
    };
  };
  '/api/v1/settings': {
    /** Read how often certificates rotate and when a node is stale. */
    get: {
      answer: Schemas['ServerSettings'];
    };
    /** Change how often certificates rotate and when a node is stale; any subset. */
    put: {
      json: Schemas['ServerSettingsChange'];
      answer: Schemas['ServerSettings'];
    };
  };
  '/api/v1/settings/freeze': {
    /** Read whether what nodes get is frozen. */
    get: {
      answer: Schemas['Freeze'];
    };
    /** Freeze what nodes get until a time. */
    put: {
      json: Schemas['NewFreeze'];
      answer: Schemas['Freeze'];
    };
    /** End the freeze before its time. */
    delete: {
      answer: undefined;
    };
  };
  '/api/v1/settings/joining-rules': {
    /** Read what nodes get when they register, by their names. */
    get: {
      answer: Schemas['JoiningRule'][];
    };
    /** Replace all rules for nodes that register. */
    put: {
      json: Schemas['NewJoiningRules'];
      answer: Schemas['JoiningRule'][];
    };
  };
  '/api/v1/settings/joining-rules/check': {
    /** See what the rules alone would make of nodes of these names. */
    post: {
      json: Schemas['JoiningRulesCheck'];
      answer: Schemas['JoiningRulesChecked'][];
    };
  };
  '/api/v1/settings/lcm-defaults': {
    /** Read what a node is told where nothing is desired of it in particular; null is no default. */
    get: {
      answer: Schemas['LcmDefaults'];
    };
    /** Change what a node is told where nothing is desired of it in particular; null is no default; any subset. */
    put: {
      json: Schemas['LcmDefaultsChange'];
      answer: Schemas['LcmDefaults'];
    };
  };
  '/api/v1/settings/public': {
    /** Read what an agent needs to know before it is registered. */
    get: {
      answer: Schemas['PublicSettings'];
    };
  };
  '/api/v1/settings/retention': {
    /** Read what cleanups keep, and whether and how often they run by themselves. */
    get: {
      answer: Schemas['RetentionSettings'];
    };
    /** Change what cleanups keep, and whether and how often they run by themselves; any subset. */
    put: {
      json: Schemas['RetentionSettingsChange'];
      answer: Schemas['RetentionSettings'];
    };
  };
  '/api/v1/settings/rollouts': {
    /** Read which scope type gives the rings of rollouts; those that run keep theirs. */
    get: {
      answer: Schemas['RolloutSettings'];
    };
    /** Change which scope type gives the rings of rollouts; those that run keep theirs; any subset. */
    put: {
      json: Schemas['RolloutSettingsChange'];
      answer: Schemas['RolloutSettings'];
    };
  };
  '/api/v1/settings/validation': {
    /** Read how versions and parameters are checked. */
    get: {
      answer: Schemas['ValidationSettings'];
    };
    /** Change how versions and parameters are checked; any subset. */
    put: {
      json: Schemas['ValidationSettingsChange'];
      answer: Schemas['ValidationSettings'];
    };
  };
  '/api/v1/users': {
    /** List users by name. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['User'][];
    };
    /** Create a user or a service account. */
    post: {
      json: Schemas['NewUser'];
      answer: Schemas['UserDetails'];
    };
  };
  '/api/v1/users/{id}': {
    /** Read a user. */
    get: {
      path: {
        id: string;
      };
      answer: Schemas['UserDetails'];
    };
    /** Change, deactivate or reactivate a user. */
    put: {
      path: {
        id: string;
      };
      json: Schemas['UserChange'];
      answer: Schemas['UserDetails'];
    };
    /** Delete a user. */
    delete: {
      path: {
        id: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/users/{id}/federations': {
    /** List whose tokens may become tokens of a service account. */
    get: {
      path: {
        id: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Federation'][];
    };
    /** Let tokens of an issuer become tokens of a service account. */
    post: {
      path: {
        id: string;
      };
      json: Schemas['NewFederation'];
      answer: Schemas['Federation'];
    };
  };
  '/api/v1/users/{id}/federations/{federationId}': {
    /** Take no more tokens of an issuer for a service account. */
    delete: {
      path: {
        id: string;
        federationId: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/users/{id}/identities': {
    /** List by which identity providers a user signs in. */
    get: {
      path: {
        id: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Identity'][];
    };
  };
  '/api/v1/users/{id}/identities/{identityId}': {
    /** Let a user no longer sign in by an identity. */
    delete: {
      path: {
        id: string;
        identityId: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/users/{id}/reset-password': {
    /** Set a user's password. */
    post: {
      path: {
        id: string;
      };
      json: Schemas['PasswordReset'];
      answer: undefined;
    };
  };
  '/api/v1/users/{id}/roles': {
    /** List the roles that a user holds directly, by name. */
    get: {
      path: {
        id: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['UserRole'][];
    };
    /** Set the roles that a user holds directly. */
    put: {
      path: {
        id: string;
      };
      json: Schemas['UserRoleIds'];
      answer: Schemas['UserRole'][];
    };
  };
  '/api/v1/users/{id}/tokens': {
    /** List a user's tokens, newest first. */
    get: {
      path: {
        id: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Token'][];
    };
    /** Create a token of a service account. */
    post: {
      path: {
        id: string;
      };
      json: Schemas['NewToken'];
      answer: Schemas['CreatedToken'];
    };
  };
  '/api/v1/users/{id}/tokens/{tokenId}': {
    /** Revoke one of a user's tokens. */
    delete: {
      path: {
        id: string;
        tokenId: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/users/{id}/unlock': {
    /** End a user's lock. */
    post: {
      path: {
        id: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/webhooks': {
    /** List webhooks, oldest first. */
    get: {
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['Webhook'][];
    };
    /** Have events sent to an address. */
    post: {
      json: Schemas['NewWebhook'];
      answer: Schemas['Webhook'];
    };
  };
  '/api/v1/webhooks/{id}': {
    /** Read a webhook. */
    get: {
      path: {
        id: string;
      };
      answer: Schemas['Webhook'];
    };
    /** Change a webhook. */
    put: {
      path: {
        id: string;
      };
      json: Schemas['WebhookChange'];
      answer: Schemas['Webhook'];
    };
    /** Delete a webhook with its deliveries. */
    delete: {
      path: {
        id: string;
      };
      answer: undefined;
    };
  };
  '/api/v1/webhooks/{id}/deliveries': {
    /** List what was sent to a webhook, and what waits, newest first. */
    get: {
      path: {
        id: string;
      };
      query?: {
        take?: number | undefined;
        skip?: number | undefined;
        state?: 'Pending' | 'Delivered' | 'Failed' | undefined;
      } | undefined;
      isPaged: true;
      answer: Schemas['WebhookDelivery'][];
    };
  };
  '/api/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver': {
    /** Send an event to a webhook again. */
    post: {
      path: {
        id: string;
        deliveryId: string;
      };
      answer: Schemas['WebhookDelivery'];
    };
  };
}

/** The operations that take If-Match, as method and path. */
export const TAKES_IF_MATCH: ReadonlySet<string> = new Set([
  'put /api/v1/admin/registration-keys/{keyId}',
  'delete /api/v1/admin/registration-keys/{keyId}',
  'delete /api/v1/auth/tokens/{id}',
  'delete /api/v1/composite-configurations/{name}',
  'put /api/v1/composite-configurations/{name}/permissions',
  'delete /api/v1/composite-configurations/{name}/permissions/{principalType}/{principalId}',
  'post /api/v1/composite-configurations/{name}/rollouts',
  'delete /api/v1/composite-configurations/{name}/versions/{version}',
  'put /api/v1/composite-configurations/{name}/versions/{version}/children/{childId}',
  'delete /api/v1/composite-configurations/{name}/versions/{version}/children/{childId}',
  'put /api/v1/composite-configurations/{name}/versions/{version}/publish',
  'put /api/v1/composite-configurations/{name}/versions/{version}/withdraw',
  'delete /api/v1/composite-configurations/{name}/versions/{version}/withdraw',
  'patch /api/v1/configurations/{name}',
  'delete /api/v1/configurations/{name}',
  'put /api/v1/configurations/{name}/parameters',
  'put /api/v1/configurations/{name}/parameters/permissions',
  'delete /api/v1/configurations/{name}/parameters/permissions/{principalType}/{principalId}',
  'put /api/v1/configurations/{name}/permissions',
  'delete /api/v1/configurations/{name}/permissions/{principalType}/{principalId}',
  'post /api/v1/configurations/{name}/rollouts',
  'put /api/v1/configurations/{name}/settings',
  'delete /api/v1/configurations/{name}/settings',
  'put /api/v1/configurations/{name}/settings/retention',
  'delete /api/v1/configurations/{name}/settings/retention',
  'put /api/v1/configurations/{name}/versions/{version}',
  'delete /api/v1/configurations/{name}/versions/{version}',
  'put /api/v1/configurations/{name}/versions/{version}/files/{filePath}',
  'delete /api/v1/configurations/{name}/versions/{version}/files/{filePath}',
  'put /api/v1/configurations/{name}/versions/{version}/publish',
  'put /api/v1/configurations/{name}/versions/{version}/withdraw',
  'delete /api/v1/configurations/{name}/versions/{version}/withdraw',
  'delete /api/v1/groups/external-mappings/{id}',
  'put /api/v1/groups/{id}',
  'delete /api/v1/groups/{id}',
  'put /api/v1/groups/{id}/members',
  'put /api/v1/groups/{id}/roles',
  'delete /api/v1/nodes/{nodeId}',
  'put /api/v1/nodes/{nodeId}/configuration',
  'delete /api/v1/nodes/{nodeId}/configuration',
  'put /api/v1/nodes/{nodeId}/lcm-config',
  'put /api/v1/nodes/{nodeId}/lcm-status',
  'put /api/v1/nodes/{nodeId}/reported-config',
  'put /api/v1/nodes/{nodeId}/tags',
  'delete /api/v1/nodes/{nodeId}/tags/{scopeValueId}',
  'put /api/v1/parameters/{scopeTypeId}/{configurationId}',
  'delete /api/v1/parameters/{scopeTypeId}/{configurationId}/versions/{version}',
  'put /api/v1/parameters/{scopeTypeId}/{configurationId}/versions/{version}/publish',
  'put /api/v1/roles/{id}',
  'delete /api/v1/roles/{id}',
  'put /api/v1/scope-types/reorder',
  'put /api/v1/scope-types/{id}',
  'delete /api/v1/scope-types/{id}',
  'patch /api/v1/scope-types/{id}/disable',
  'patch /api/v1/scope-types/{id}/enable',
  'put /api/v1/scope-types/{scopeTypeId}/values/reorder',
  'put /api/v1/scope-types/{scopeTypeId}/values/{id}',
  'delete /api/v1/scope-types/{scopeTypeId}/values/{id}',
  'put /api/v1/settings',
  'put /api/v1/settings/freeze',
  'delete /api/v1/settings/freeze',
  'put /api/v1/settings/joining-rules',
  'put /api/v1/settings/lcm-defaults',
  'put /api/v1/settings/retention',
  'put /api/v1/settings/rollouts',
  'put /api/v1/settings/validation',
  'put /api/v1/users/{id}',
  'delete /api/v1/users/{id}',
  'delete /api/v1/users/{id}/federations/{federationId}',
  'delete /api/v1/users/{id}/identities/{identityId}',
  'put /api/v1/users/{id}/roles',
  'delete /api/v1/users/{id}/tokens/{tokenId}',
  'put /api/v1/webhooks/{id}',
  'delete /api/v1/webhooks/{id}',
]);
